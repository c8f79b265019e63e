import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Which parser packages a process loads to read one document. */
function loadedFor(format: string, text: string): unknown {
  const script = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({ resolve: (name, context, next) => (loaded.add(name), next(name, context)) })
    const { formats } = await import('./src/feed/format/formats.ts')
    async function* bytes() { yield Buffer.from(${JSON.stringify(text)}) }
    const options = { encoding: null, charset: null, maxRecordBytes: 1000, lengthProven: () => true }
    const reading = formats[${JSON.stringify(format)}].read(bytes(), { ...options, record: 'a/b', quote: '"', requiredHeaders: [] })
    let records = 0
    for await (const batch of reading.records) for (const record of batch) if (reading.parse(record)) records++
    const parsers = ['papaparse', 'fast-xml-parser'].filter((name) => loaded.has(name))
    console.log(JSON.stringify({ records, parsers }))`
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script]).toString())
}

test.each([
  ['csv', 'a,b\n1,2\n', ['papaparse']],
  ['xml', '<a><b/></a>', ['fast-xml-parser']],
  ['rets-compact', '<RETS><COLUMNS>\ta\tb\t</COLUMNS><DATA>\t1\t2\t</DATA></RETS>', []],
])('%s loads no parser but its own', (format, text, parsers) => {
  expect(loadedFor(format, text)).toEqual({ records: 1, parsers })
})
