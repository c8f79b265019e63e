/**
 * Hostile texts by name: runs that make careless code walk them again and again. A shape makes about so many characters.
 * `head` and `tail` matter: many expressions only go wrong where a long run begins well and ends badly.
 */
type Shape = (length: number) => string

const run =
  (piece: string, head = '', tail = ''): Shape =>
  (length) =>
    head + piece.repeat(Math.ceil(length / piece.length)) + tail

/** Every number once, so that nothing repeats. */
const counted =
  (between: string, name = 'n'): Shape =>
  (length) => {
    const pieces: string[] = []
    for (let size = 0, index = 0; size < length; index++) {
      const piece = `${name}${index}${between}`
      pieces.push(piece)
      size += piece.length
    }
    return pieces.join('')
  }

/** Letters that are not the same, for what is slow only where many characters differ. */
const varied: Shape = (length) => {
  let text = 'x'
  for (let index = 0; index < length; index++) text += String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000))
  return text
}

export const texts: Readonly<Record<string, Shape>> = {
  letters: run('a', '', '!'),
  words: run('ab ', '', '!'),
  'capital letters': run('A', '', '!'),
  'digits, then a letter': run('7', '', 'x'),
  digits: run('7'),
  'digits after a point': run('7', '1.', 'x'),
  'groups of digits': run(',111', '1', 'x'),
  'digits and blanks': run('1 111 ', '', 'x'),
  'numbers and units': run('1 sq ft ', '', '!'),
  dots: run('.', 'a', '!'),
  'dotted names': run('a.', '', '!'),
  commas: run(',', 'a', 'b'),
  'commas and blanks': run(', ', 'a', 'b'),
  dashes: run('-', 'a', 'b'),
  'dashes and blanks': run('- ', '1', 'x'),
  slashes: run('/', 'a', 'b'),
  backslashes: run('\\', 'a', 'b'),
  blanks: run(' ', 'a', 'b'),
  'blanks after a number': run(' ', '1', 'x'),
  'blanks that do not break': run('\u00a0', 'a', 'b'),
  tabs: run('\t', 'a', 'b'),
  'line breaks': run('\n', 'a', 'b'),
  'blank lines': run(' \n', 'a', 'b'),
  colons: run(':', 'a', 'b'),
  bars: run('|', 'a', 'b'),
  hashes: run('#', 'a', 'b'),
  'unit numbers': run('# ', '1 Main St ', '!'),
  'quotation marks': run('"', 'a', 'b'),
  apostrophes: run("'", 'a', 'b'),
  'open brackets': run('[', '', 'x'),
  'open braces': run('{"a":', '', 'x'),
  'a list of lists': run('[[],', '', 'x'),
  'combining marks in turn': run('\u0315\u0300', 'a'),
  'combining marks apart': run('a\u0315\u0300'),
  'combining marks of one kind': run('\u0301', 'e'),
  'letters beyond ASCII': run('é', '', '!'),
  'letters of many kinds': varied,
  'text that was encoded twice': run('Ã©', '', '!'),
  'text that was nearly encoded twice': run('Ã', '', '!'),
  'halves of pairs': run('\ud800', 'a'),
  'control characters': run('\u0001', 'a', 'b'),
  'escape sequences': run('\u001b[', 'a', 'm'),
  'long escape sequences': run('1;', '\u001b[', '!'),
  'links of a terminal': run(';a', '\u001b]', '!'),
  'marks that reorder': run('\u202e', 'a', 'b'),
  'open tags': run('<', 'a', 'b'),
  'open scripts': run('<script ', '', 'b'),
  'scripts without an end': run('<script>', '', 'b'),
  'ends of scripts that do not end': run('</script ', '<script>', 'b'),
  'comments without an end': run('<!--', 'a', 'b'),
  'elements of HTML': run('<b x>', '', 'b'),
  'tags with a prefix': run('<a:', '', 'b'),
  'a tag with a long name': run('a', '<a:', '!'),
  ampersands: run('&', 'a', 'b'),
  entities: run('&amp;', '', 'b'),
  'entities in entities': run('amp;', '&', 'b'),
  'open references': run('&#', '', ';'),
  'references to digits': run('&#65;', '', '&#x110000;'),
  'a reference of many digits': run('9', '&#', ';'),
  'a reference that does not end': run('9', '&#', ''),
  'a name that does not end': run('a', '&', ''),
  addresses: run('https://a.example/1.jpg,', '', '!'),
  'beginnings of addresses': run('https://', '', '!'),
  'slashes of addresses': run('//', '', '!'),
  'a host of many labels': run('a.', 'https://', 'example/x'),
  'a long host': run('a', 'https://', '.example/x'),
  'a host beyond ASCII': (length) => `https://${varied(length)}.example/x`,
  'a host of combining marks': run('\u0315\u0300', 'https://a', '.example/x'),
  'a host in punycode': run('b', 'https://xn--a-', '.example/x'),
  'a path with dots': run('a/../', 'https://a.example/', 'x'),
  'a path of blanks': run(' ', 'https://a.example/', 'x'),
  'different words': counted(' '),
  'different words with commas': counted(','),
  'money signs': run('$', '', 'x'),
  'amounts of money': run('$1 ', '', 'x'),
  'sides of a lot': run('5x', '', 'x'),
  times: run('1:00 PM to ', '', 'x'),
  nothing: run('n/a '),
}
