import { tooManyValues } from './format.ts'
import type { FormatOptions, RawRecord, Reader, RecordFields, RecordNode } from './format.ts'

/** A reader that stops after so many records, and takes no record of more values. */
export function bounded<Own extends FormatOptions>(
  reader: Reader<Own>,
  { maxRecords, maxFields }: { maxRecords: number; maxFields: number },
): Reader<Own> {
  return {
    hasEndMark: reader.hasEndMark,
    read(bytes, options) {
      const reading = reader.read(bytes, { ...options, maxFields })
      const reasons: string[] = []
      async function* records(): AsyncGenerator<RawRecord[]> {
        let count = 0
        for await (const batch of reading.records) {
          count += batch.length
          if (count > maxRecords) {
            yield batch.slice(0, batch.length - (count - maxRecords))
            reasons.push(`the document has more than ${maxRecords} records (maxRecords); the rest was not read`)
            return
          }
          yield batch
        }
      }
      return {
        ...reading,
        records: records(),
        end: () => (reasons.length > 0 ? { reasons } : reading.end()),
        parse(record) {
          const fields = reading.parse(record)
          // A value takes a byte at least: most records are too short for so many.
          const { raw, outside = '' } = record
          const most = raw.length + outside.length + Object.keys(reading.header?.() ?? {}).length + 1
          if (most > maxFields && valuesIn(fields, maxFields) > maxFields) throw tooManyValues(maxFields)
          return fields
        },
      }
    },
  }
}

/** The values of a record, at most one more than `most`. */
function valuesIn(fields: RecordFields, most: number): number {
  let count = 0
  const open: (RecordNode | RecordNode[])[] = [fields]
  for (let node = open.pop(); node !== undefined && count <= most; node = open.pop()) {
    if (typeof node === 'string') count++
    else if (Array.isArray(node)) for (const inner of node) open.push(inner)
    else for (const name in node) open.push(node[name])
  }
  return count
}
