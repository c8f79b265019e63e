/** Hostile documents for every format, by name: each makes a document of about so many characters. */
import { texts } from './shapes.ts'

type Shape = (length: number) => string

interface Documents {
  /** Options of its format. */
  options: Record<string, unknown>
  /** Every hostile text in each place that takes one. */
  places: Record<string, Shape>
  /** What the document itself is made of. */
  shapes: Record<string, Shape>
}

const repeated = (piece: string, length: number): string => piece.repeat(Math.ceil(length / piece.length))

/** Pieces with their number in them, so that no two are alike. */
function numbered(piece: (index: number) => string, length: number): string {
  const pieces: string[] = []
  for (let size = 0, index = 0; size < length; index++) {
    pieces.push(piece(index))
    size += pieces[index].length
  }
  return pieces.join('')
}

/** Every text at one place of a document. */
function everyText(what: string, around: (text: string) => string): Record<string, Shape> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, make]) => [`${what}: ${name}`, (length: number) => around(make(length))]),
  )
}

const inRecord = (content: string): string => `<Listings><Listing><Id>1</Id>${content}</Listing></Listings>`
const escaped = (text: string): string => text.replaceAll('<', '&lt;')

/** Half of the document is one long thing, half many short ones that meet it. */
const halves =
  (long: (length: number) => string, short: (length: number) => string): Shape =>
  (length) =>
    long(length / 2) + short(length / 2)

const xml: Documents = {
  options: {
    record: 'Listings/Listing',
    counter: '@count',
    header: { kind: 'Listings/Head/@kind' },
    written: 'Listings/Head/@written',
  },
  places: {
    ...everyText('a text', (text) => inRecord(`<A>${escaped(text)}</A>`)),
    ...everyText('markup', (text) => inRecord(`<A>${text}</A>`)),
    ...everyText('an attribute', (text) => inRecord(`<A b="${escaped(text).replaceAll('"', '&quot;')}"/>`)),
    ...everyText('a tag', (text) => inRecord(`<A ${text}>x</A>`)),
    ...everyText('CDATA', (text) => inRecord(`<A><![CDATA[${text}]]></A>`)),
    ...everyText('an instruction', (text) => inRecord(`<?a ${text}?>`)),
    ...everyText('between records', (text) => `<Listings>${text}<Listing><Id>1</Id></Listing></Listings>`),
    ...everyText('the root', (text) => `<Listings ${text}><Listing><Id>1</Id></Listing></Listings>`),
    ...everyText('before the root', (text) => `${text}<Listings><Listing><Id>1</Id></Listing></Listings>`),
    ...everyText('the declaration', (text) => `<?xml ${text}?><Listings><Listing><Id>1</Id></Listing></Listings>`),
    ...everyText('a document type', (text) => `<!DOCTYPE ${text}><Listings><Listing></Listing></Listings>`),
    ...everyText('a subset', (text) => `<!DOCTYPE x [${text}]><Listings><Listing></Listing></Listings>`),
  },
  shapes: {
    'CDATA sections': (length) => inRecord(repeated('<![CDATA[x]]>', length)),
    comments: (length) => inRecord(repeated('<!-- x -->', length)),
    instructions: (length) => inRecord(repeated('<?a x?>', length)),
    'instructions between records': (length) => `<Listings>${repeated('<?a x?>', length)}</Listings>`,
    'comments between records': (length) => `<Listings>${repeated('<!-- x -->', length)}</Listings>`,
    attributes: (length) => inRecord(`<A${numbered((index) => ` a${index}="1"`, length)}/>`),
    'attributes of one name': (length) => inRecord(`<A${repeated(' a="1"', length)}/>`),
    // What is refused at its end costs no parsing, which would hide what is quick but quadratic; so it may be longer.
    'attributes of a tag that ends badly': (length) => inRecord(`<A${repeated(' a="1"', 4 * length)} "/>`),
    'attributes with a prefix': (length) => inRecord(`<A${numbered((index) => ` x:a${index}="1"`, length)}/>`),
    'attributes without a value': (length) => inRecord(`<A${numbered((index) => ` a${index}`, length)}/>`),
    'attributes that hold a mark': (length) => inRecord(`<A${repeated(' a=">"', length)}/>`),
    'attributes that hold the end': (length) => inRecord(`<A${repeated(' a="</Listing>"', length)}/>`),
    'attributes that open and close': (length) => inRecord(repeated('<A b="</Listing>"/>', length)),
    'attributes of the root': (length) =>
      `<Listings${numbered((index) => ` a${index}="1"`, length)}><Listing/></Listings>`,
    'elements of one name': (length) => inRecord(repeated('<A>1</A>', length)),
    'elements of many names': (length) => inRecord(numbered((index) => `<a${index}>1</a${index}>`, length)),
    'elements with a prefix': (length) => inRecord(numbered((index) => `<x:a${index}>1</x:a${index}>`, length)),
    'empty elements': (length) => inRecord(repeated('<A/>', length)),
    'nested elements': (length) => inRecord(repeated('<A>', length / 2) + repeated('</A>', length / 2)),
    'nested elements that do not end': (length) => inRecord(repeated('<A>', length)),
    'ends without a beginning': (length) => inRecord(repeated('</A>', length)),
    'nested elements between records': (length) => `<Listings>${repeated('<A>', length)}`,
    'elements between records': (length) => `<Listings>${repeated('<A>1</A>', length)}</Listings>`,
    'ends between records': (length) => `<Listings>${repeated('</A>', length)}</Listings>`,
    roots: (length) => repeated('<Listings/>', length),
    'wrong roots': (length) => `<Listings></Listings>${repeated('<A></A>', length)}`,
    records: (length) => `<Listings>${repeated('<Listing><Id>1</Id></Listing>', length)}</Listings>`,
    'empty records': (length) => `<Listings>${repeated('<Listing/>', length)}</Listings>`,
    'records that do not end': (length) => `<Listings>${repeated('<Listing>', length)}`,
    'a record that does not end': (length) => `<Listings><Listing>${repeated('<A>1</A>', length)}`,
    'a tag that does not end': (length) => `<Listings><Listing><A ${repeated('b="1" ', length)}`,
    'a value that does not end': (length) => `<Listings><Listing><A b="${repeated('x > y ', length)}`,
    'quotes that open nothing': (length) =>
      `<Listings><Listing><A ${repeated('" ', length)}>x</A></Listing></Listings>`,
    'values with quotes of the other kind': (length) => inRecord(`<A b='${repeated('"', length)}'/>`),
    'equals signs': (length) => inRecord(`<A ${repeated('=', length)}/>`),
    'document types': (length) => `${repeated('<!DOCTYPE a>', length)}<Listings/>`,
    'document types between records': (length) => `<Listings>${repeated('<!DOCTYPE a>', length)}</Listings>`,
    'declarations of no kind': (length) => `<Listings>${repeated('<!A>', length)}</Listings>`,
    'declarations of no kind in a record': (length) => inRecord(repeated('<!A>', length)),
    'a long name, and short elements in it': (length) => {
      const name = repeated('a', length / 200)
      const nested = 90
      return `<Listings>${`<${name}>`.repeat(nested)}${repeated('<b/>', length / 2)}${`</${name}>`.repeat(nested)}</Listings>`
    },
    'long names that are not open': (length) => {
      const name = repeated('a', length / 200)
      return `<Listings>${`<${name}b>`.repeat(90)}${repeated(`</${name}c>`, length / 2)}</Listings>`
    },
    'long names in few elements': (length) =>
      inRecord(`<${repeated('a', length / 2)}>1</${repeated('a', length / 2)}>`),
    'a record of a long name': (length) => {
      const name = `${repeated('a', length / 4)}:Listing`
      return `<Listings><${name}>${repeated('a', length / 2)}${repeated(`<${name.slice(0, 50)}/>`, length / 4)}</${name}></Listings>`
    },
    'CDATA sections in a record of a long name': (length) => {
      const name = `${repeated('a', length / 4)}:Listing`
      return `<Listings><${name}>${repeated('<![CDATA[x]]>', length / 4)}${repeated('</aaaa', length / 8)}</${name}></Listings>`
    },
    'a long header, and short records': halves(
      (length) => `<Listings><Head kind="${repeated('x', length)}"/>`,
      (length) => `${repeated('<Listing/>', length)}</Listings>`,
    ),
    'headers without the attribute': (length) => `<Listings>${repeated('<Head a="1"/>', length)}<Listing/></Listings>`,
    'names of a prototype': (length) => inRecord(repeated('<__proto__>1</__proto__>', length)),
    'names that are numbers': (length) => inRecord(`<A${numbered((index) => ` a${index * 7919}="1"`, length)}/>`),
  },
}

const cells = (length: number): string => numbered((index) => `,c${index}`, length)
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

const csv: Documents = {
  options: {},
  places: {
    ...everyText('a cell', (text) => `Id,A\n1,${text.replaceAll(/[\n,]/g, ' ')}\n`),
    ...everyText('a quoted cell', (text) => `Id,A\n1,${quoted(text)}\n`),
    ...everyText('a quoted header', (text) => `Id,${quoted(text)}\n1,2\n`),
    ...everyText('the document', (text) => `Id,A\n${text}`),
    ...everyText('the document from its beginning', (text) => text),
  },
  shapes: {
    rows: (length) => `Id,A\n${repeated('1,2\n', length)}`,
    'rows of one cell': (length) => `Id,A\n${repeated('1\n', length)}`,
    'rows of nothing': (length) => `Id,A\n${repeated('\n', length)}`,
    'rows of blanks': (length) => `Id,A\n${repeated(' , \n', length)}`,
    'rows that are the header again': (length) => `Id,A\n${repeated('Id,A\n', length)}`,
    'rows with too many cells': (length) => `Id,A\n${repeated('1,2,3\n', length)}`,
    columns: (length) => `Id${cells(length / 2)}\n1${repeated(',2', length / 2)}\n`,
    'columns of one name': (length) =>
      `Id${repeated(',A', length / 2)}\n1${numbered((index) => `,${index}`, length / 2)}\n`,
    'columns of one name, rows of different cells': (length) =>
      `Id${',A'.repeat(200)}\n${numbered((index) => `${index}${Array.from({ length: 200 }, (_, at) => `,${index + at}`).join('')}\n`, length)}`,
    'a long header, and short rows': halves(
      (length) => `Id${cells(length)}\n`,
      (length) => repeated('1,2\n', length),
    ),
    'long names, and short rows': halves(
      (length) => `Id${`,${'x'.repeat(length / 100)}`.repeat(100)}\n`,
      (length) => repeated('1,2\n', length),
    ),
    'names that are numbers': (length) =>
      `Id${numbered((index) => `,${4_294_967_294 - index}`, length / 2)}\n1${repeated(',2', length / 6)}\n`,
    'a quote that does not end': (length) => `Id,A\n1,"${repeated('x\n', length)}`,
    'quotes in a quoted cell': (length) => `Id,A\n1,"${repeated('""', length)}"\n`,
    'quotes that close nothing': (length) => `Id,A\n1,"${repeated('"x', length)}"\n`,
    'quotes and blanks': (length) => `Id,A\n1,"${repeated('" ', length)}x"\n`,
    'quoted cells': (length) => `Id,A\n${repeated('"1","2"\n', length)}`,
    'quoted cells in one row': (length) => `Id,A\n1${repeated(',"2"', length)}\n`,
    'quoted cells with blanks behind them': (length) => `Id,A\n1,"2"${repeated(' ', length)}\n`,
    'a long row without an end': (length) => `Id,A\n1,${repeated('x', length)}`,
    'rows that end in CR': (length) => `Id,A\r${repeated('1,2\r', length)}`,
  },
}

const position: Documents = {
  options: { columns: 2, delimiter: '!#' },
  places: {
    ...everyText('a cell by position', (text) => `1!#${text}\n`),
    ...everyText('a quoted cell by position', (text) => `"1"!#"${text}"\n`),
  },
  shapes: {
    'half delimiters': (length) => `1!#${repeated('!', length)}\n`,
    'quotes and delimiters': (length) => `"1"!#"${repeated('"!', length)}"\n`,
    'cells by position': (length) => `"1"${repeated('!#"2"', length)}\n`,
  },
}

const rets = (content: string): string =>
  `<RETS ReplyCode="0" ReplyText="x"><DELIMITER value="09"/>${content}<COLUMNS>\tId\tA\t</COLUMNS><DATA>\t1\t2\t</DATA></RETS>`

const retsCompact: Documents = {
  options: {},
  places: {
    ...everyText('a text of RETS', (text) => rets(text)),
    ...everyText('a tag of RETS', (text) => rets(`<COUNT ${text}/>`)),
    ...everyText('the root of RETS', (text) => `<RETS ${text}>${rets('')}`),
    ...everyText('a row of RETS', (text) => rets(`<COLUMNS>\tId\tA\t</COLUMNS><DATA>\t1\t${text}\t</DATA>`)),
    ...everyText(
      'columns of RETS',
      (text) => `<RETS ReplyCode="0"><COLUMNS>${text}</COLUMNS><DATA>\t1\t</DATA></RETS>`,
    ),
  },
  shapes: {
    'rows of RETS': (length) => rets(`<COLUMNS>\tId\tA\t</COLUMNS>${repeated('<DATA>\t1\t2\t</DATA>', length)}`),
    'many columns, short rows': halves(
      (length) => `<RETS ReplyCode="0"><COLUMNS>${numbered((index) => `\tc${index}`, length)}\t</COLUMNS>`,
      (length) => `${repeated('<DATA>\t1\t</DATA>', length)}</RETS>`,
    ),
    'columns again and again': (length) => rets(repeated('<COLUMNS>\tId\tA\t</COLUMNS>', length)),
    'comments of RETS': (length) => rets(repeated('<!-- x -->', length)),
    'comments that do not end': (length) => rets(repeated('<!--', length)),
    'reasons of RETS': (length) => rets(numbered((index) => `<RETS-STATUS ReplyCode="${index + 1}"/>`, length)),
    'rows that do not end': (length) => rets(repeated('<DATA>', length)),
    'a row that does not end': (length) =>
      `<RETS ReplyCode="0"><COLUMNS>\tId\t</COLUMNS><DATA>${repeated('x', length)}`,
    'delimiters of RETS': (length) => rets(repeated('<DELIMITER value="09"/>', length)),
  },
}

const blmHead = "#HEADER#\nVERSION : 3\nEOF : '^'\nEOR : '~'\n"

const blm: Documents = {
  options: {},
  places: {
    ...everyText('a header of BLM', (text) => `${blmHead}${text}\n#DEFINITION#\nA^B^~\n#DATA#\n1^2^~\n#END#\n`),
    ...everyText(
      'a separator of BLM',
      (text) => `#HEADER#\nEOF : ${text}\nEOR : '~'\n#DEFINITION#\nA^B^~\n#DATA#\n#END#`,
    ),
    ...everyText('a definition of BLM', (text) => `${blmHead}#DEFINITION#\n${text}\n#DATA#\n1^2^~\n#END#\n`),
    ...everyText('a record of BLM', (text) => `${blmHead}#DEFINITION#\nA^B^~\n#DATA#\n1^${text}^~\n#END#\n`),
    ...everyText('after the end of BLM', (text) => `${blmHead}#DEFINITION#\nA^B^~\n#DATA#\n1^2^~\n#END#\n${text}`),
  },
  shapes: {
    'records of BLM': (length) => `${blmHead}#DEFINITION#\nA^B^~\n#DATA#\n${repeated('1^2^~', length)}\n#END#\n`,
    'fields of BLM': (length) => `${blmHead}#DEFINITION#\nA^B^~\n#DATA#\n1^2${repeated('^3', length)}~\n#END#\n`,
    'empty records of BLM': (length) => `${blmHead}#DEFINITION#\nA^B^~\n#DATA#\n${repeated('~', length)}\n#END#\n`,
    'a record of BLM that does not end': (length) =>
      `${blmHead}#DEFINITION#\nA^B^~\n#DATA#\n1^${repeated('x', length)}`,
    'line breaks of BLM': (length) => `${blmHead}#DEFINITION#\nA^B^~\n#DATA#\n1^x${repeated('\n', length)}y^~\n#END#\n`,
  },
}

const asJson = (content: string): string => `{"count": 1, "value": [{"Id": "1", ${content}}]}`
const inText = (text: string): string => JSON.stringify(text)

const json: Documents = {
  options: { record: ['value', '.'], counter: 'count', nextPage: 'next' },
  places: {
    ...everyText('a text of JSON', (text) => asJson(`"A": ${inText(text)}`)),
    ...everyText('a name of JSON', (text) => asJson(`${inText(text)}: 1`)),
    ...everyText('a record of JSON', (text) => asJson(text)),
    ...everyText('between records of JSON', (text) => `{"value": [{"Id": 1},${text}{"Id": 2}]}`),
    ...everyText('a name before the records', (text) => `{${inText(text)}: 1, "value": [{"Id": 1}]}`),
    ...everyText('a text before the records', (text) => `{"count": ${inText(text)}, "value": [{"Id": 1}]}`),
    ...everyText('the root of JSON', (text) => `{"Id": 1, "A": ${inText(text)}}`),
    ...everyText('the beginning of JSON', (text) => `[${text}`),
  },
  shapes: {
    'records of JSON': (length) => `{"value": [{}${repeated(',{"a":1}', length)}]}`,
    'names of JSON': (length) => asJson(`"A": 1${numbered((index) => `,"a${index}":1`, length)}`),
    'names of the root': (length) => `{"A": 1${numbered((index) => `,"a${index}":1`, length)}}`,
    'elements of JSON': (length) => asJson(`"A": [1${repeated(',{"b":2}', length)}]`),
    'depth of JSON': (length) => asJson(`"A": ${repeated('[', length)}`),
    'depth of JSON that closes': (length) => asJson(`"A": ${'['.repeat(length / 2)}${']'.repeat(length / 2)}`),
    'depth of the root': (length) => repeated('{"a":', length),
    'depth of arrays': (length) => repeated('[', length),
    'long numbers': (length) => asJson(`"A": 1${repeated(',"B": 12345678901234567890', length)}`),
    'a number of JSON': (length) => asJson(`"A": ${repeated('1', length)}`),
    'a number of the root': (length) => `{"A": ${repeated('1', length)}, "value": []}`,
    'a text that does not end': (length) => `{"value": [{"A": "${repeated('x', length)}`,
    'backslashes that do not end': (length) => `{"value": [{"A": "${repeated('\\', length)}`,
    'quotes behind backslashes': (length) => `{"A": "${repeated(String.raw`\"`, length)}`,
    'blanks of JSON': (length) => `{"value": [{"A": 1},${repeated(' ', length)}{"A": 2}]}`,
  },
}

const ndjson: Documents = {
  options: {},
  places: {
    ...everyText('a text of a line', (text) => `{"Id": 1}\n{"A": ${inText(text)}}\n`),
    ...everyText('a line', (text) => `{"Id": 1}\n${text}\n`),
    ...everyText('a first line', (text) => `${text}\n{"Id": 1}\n`),
  },
  shapes: {
    lines: (length) => repeated('{"a":1}\n', length),
    'empty lines': (length) => `{"a":1}${repeated('\n', length)}`,
    'a line that does not end': (length) => `{"a":1}\n{"a":"${repeated('x', length)}`,
    'depth of a line': (length) => `{"a":1}\n{"a":${repeated('[', length)}\n`,
  },
}

/** `format`: a key of `formats`. */
export const documents: readonly (Documents & { title: string; format: string })[] = [
  { title: 'XML', format: 'xml', ...xml },
  { title: 'CSV', format: 'csv', ...csv },
  { title: 'CSV by position', format: 'csv', ...position },
  { title: 'RETS COMPACT', format: 'rets-compact', ...retsCompact },
  { title: 'BLM', format: 'blm', ...blm },
  { title: 'JSON', format: 'json', ...json },
  { title: 'NDJSON', format: 'ndjson', ...ndjson },
]
