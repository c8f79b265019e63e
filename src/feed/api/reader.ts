/** Reads the records of a live source for a mapping: nested, with every leaf as text, like those of an XML document. */
import { RecordError, brokenRecord, refuseBroken, tooLong } from '../format/format.ts'
import type { RawRecord, Reader, RecordFields, RecordNode } from '../format/format.ts'

/** Reads JSON, one record a line, as `refresh` delivers it. */
export const apiReader: Reader = {
  hasEndMark: true,
  read(bytes, { maxRecordBytes }) {
    const reasons: string[] = []
    async function* records(): AsyncGenerator<RawRecord[]> {
      let rest: Buffer = Buffer.alloc(0)
      let count = 0
      for await (const block of bytes) {
        rest = rest.length === 0 ? block : Buffer.concat([rest, block])
        const batch: RawRecord[] = []
        let start = 0
        for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
          const raw = rest.subarray(start, end)
          const at = `record ${++count}`
          batch.push(raw.length > maxRecordBytes ? brokenRecord(at, tooLong('it', maxRecordBytes)) : { at, raw })
          start = end + 1
        }
        rest = rest.subarray(start)
        if (batch.length > 0) yield batch
      }
      if (rest.length > 0) reasons.push('the records end in the middle of one')
    }
    return {
      records: records(),
      context: () => '',
      end: () => ({ reasons }),
      parse(record) {
        refuseBroken(record)
        let document: unknown
        try {
          document = JSON.parse(record.raw.toString('utf8'))
        } catch {
          throw new RecordError('the record is no JSON')
        }
        if (document === null || typeof document !== 'object' || Array.isArray(document))
          throw new RecordError('the record is no object of JSON')
        return fieldsOf(document)
      },
    }
  },
}

/** The fields of a record, without `null`, empty lists and empty objects, which say nothing. */
function fieldsOf(value: object): RecordFields {
  const fields: RecordFields = Object.create(null)
  for (const [name, member] of Object.entries(value)) {
    const nodes = (Array.isArray(member) ? member : [member]).flatMap(nodeOf)
    if (nodes.length > 0) fields[name] = Array.isArray(member) ? nodes : nodes[0]
  }
  return fields
}

function nodeOf(value: unknown): RecordNode[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)]
  if (value === null || value === undefined) return []
  return Array.isArray(value) ? value.flatMap(nodeOf) : [fieldsOf(value)]
}
