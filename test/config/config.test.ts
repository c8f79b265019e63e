import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { createDoors } from '../../src/app/doors.ts'
import { openApp } from '../../src/app/open.ts'
import { loadConfig } from '../../src/config/config.ts'
import { presetDirectory, makeMapping } from '../../src/config/presets.ts'
import type { MappingMaker, MappingParts } from '../../src/config/presets.ts'
import { configJsonSchema } from '../../src/config/schema.ts'
import type { WrittenConfig } from '../../src/config/schema.ts'
import { ConfigError } from '../../src/core/errors.ts'
import type { Mapping } from '../../src/feed/mapping/mapping.ts'
import { sourceSecrets } from '../../src/feed/transport/transports.ts'

const readFile = (file: string) => readFileSync(file, 'utf8')
/** Always uses the preset zillow; equal parts yield the same mapping. */
const withZillow = (parts: MappingParts): Mapping => {
  const key = JSON.stringify(parts)
  const presetFile = join(presetDirectory, 'zillow.yaml')
  const mapping = made.get(key)?.mapping ?? makeMapping({ ...parts, presetFile })
  made.set(key, { parts, mapping })
  return mapping
}
const made = new Map<string, { parts: MappingParts; mapping: Mapping }>()
/** What the mapping of a loaded feed was made from. */
const partsOf = ({ mapping }: { mapping: Mapping }) => [...made.values()].find((one) => one.mapping === mapping)!.parts
const minimal = `
service: { baseUrl: https://listings.example.com/, sessionKey: key-of-session }
feeds:
  north: { chatbot: SN-1001, source: feeds/*.xml, preset: zillow }
`
/** Loads YAML text as if it stood in /etc/sync/listing-sync.yaml, beside files of the given content. */
function load(
  yaml: string,
  env: Record<string, string> = {},
  files: Record<string, string> = {},
  make: MappingMaker = withZillow,
  learn: (secrets: string[]) => void = () => undefined,
) {
  const all: Record<string, string> = { '/etc/sync/listing-sync.yaml': yaml, ...files }
  return loadConfig(
    '/etc/sync/listing-sync.yaml',
    {
      env,
      learn,
      readFile: (file) => {
        if (file in all) return all[file]
        throw Object.assign(new Error(`no ${file}`), { code: 'ENOENT' })
      },
    },
    make,
  )
}

/** Every key that a JSON Schema names, at any depth. */
function settingNames(schema: unknown): string[] {
  if (schema === null || typeof schema !== 'object') return []
  // `$defs` hold the language of mapping rules, which the README and the presets show.
  const { properties, $defs: _, ...rest } = schema as { properties?: object; $defs?: object }
  const named = Object.entries(properties ?? {}).flatMap(([name, inner]) => {
    return ['fields', 'statuses', 'extension'].includes(name) ? [name] : [name, ...settingNames(inner)]
  })
  return [...named, ...Object.values(rest).flatMap(settingNames)]
}

describe('one mistake a file', () => {
  const directory = 'fixtures/wrong-configurations'
  const env = { EMPTY_VARIABLE: '', PLANTED_SECRET: 'hunter2-and-more' }
  const presets = readdirSync('config/presets')
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => basename(name, '.yaml'))
    .join(', ')
  test.each(readdirSync(directory).filter((name) => name.endsWith('.yaml')))('%s', (name) => {
    const file = `${directory}/${name}`
    const expected = [...readFile(file).matchAll(/^# expect: (.*)$/gm)].map((match) =>
      match[1].replace('<presets>', presets),
    )
    expect(expected.length).toBeGreaterThan(0)
    let problems: string[] = []
    try {
      openApp({ configFile: file, doors: createDoors(), env, signal: new AbortController().signal })
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      expect(error.exitStatus).toBe(78)
      problems = error.problems
    }
    // Below a place in the YAML stand its lines.
    expect(problems.map((problem) => problem.split('\n')[0])).toEqual(expected)
  })

  test('a file that is not there', () => {
    expect(() => loadConfig('no/such.yaml', { env, readFile, learn: () => undefined }, makeMapping)).toThrow(
      /^no\/such\.yaml: one problem\n {2}can't be read: there is no such file; create one with: .* inspect --init SOURCE$/,
    )
  })

  test('a folder, and a file in UTF-16 with or without a mark', () => {
    const folder = mkdtempSync(join(tmpdir(), 'listing-sync-config-'))
    const problemOf = (file: string): string => {
      try {
        openApp({ configFile: file, doors: createDoors(), env, signal: new AbortController().signal })
        return ''
      } catch (error) {
        return error instanceof ConfigError ? error.problems.join('\n') : String(error)
      }
    }
    try {
      expect(problemOf(folder)).toBe("can't be read: it is a folder, a device or a pipe, not a file")
      for (const mark of ['', '\uFEFF']) {
        const file = join(folder, 'config.yaml')
        writeFileSync(file, Buffer.from(`${mark}${minimal}`, 'utf16le'))
        expect(problemOf(file)).toBe('is not UTF-8 text, but UTF-16 or no text at all; save it as UTF-8 in your editor')
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

test("a feed's own preset that can't be read is named, with what is wrong beside it", () => {
  const yaml = minimal.replace('preset: zillow', 'preset: ./none.yaml, defaults: { Citty: x }')
  expect(() => load(yaml, {}, {}, makeMapping)).toThrow(
    /feeds\.north\.preset: can't be read: .*there is no such file or folder \(ENOENT\).*\n {2}feeds\.north\.defaults\.Citty: .* did you mean City\? \(line 4\)$/,
  )
})

test('images are sorted by the nodes of each, so that orderBy needs it', () => {
  const images = (keys: string): string =>
    minimal.replace('preset: zillow', `preset: zillow, fields: { Images: { ${keys}, as: images, orderBy: '@id' } }`)
  expect(() => load(images('from: Photos/Photo/Url'), {}, {}, makeMapping)).toThrow(
    'feeds.north.fields.Images: orderBy sorts the nodes of each: give each, too (line 4)',
  )
  load(images('each: Photos/Photo, from: Url'), {}, {}, makeMapping)
})

test.each([['a: |\n  x\n  \ty\nb: [1'], ['a: 1\n\t\nb: [1']])(
  'a tab where YAML takes one takes no blame for what is wrong elsewhere: %j',
  (yaml) => {
    expect(() => load(yaml)).toThrow(/one problem\n {2}line \d: (?!a line begins with a tab)/)
  },
)

test('a reference without quotes between braces is told as one problem, with what to write', () => {
  const yaml = minimal.replace(
    /^service:.*(\n {2}.*)*/m,
    'service: { baseUrl: https://listings.example.com, secretKey: ${KEY}, rate: 2 }',
  )
  expect(yaml).not.toBe(minimal)
  expect(() => load(yaml, { KEY: 'x' })).toThrow(
    /one problem\n {2}line \d: \$\{NAME\} between braces or brackets needs quotes: write '\$\{NAME\}'$/,
  )
  expect(() => load("a: 1\nb: [1, '${KEY}'\nc: 2")).toThrow(/one problem\n {2}line \d: (?!\$\{NAME\})/)
})

test('what is wrong with a feed is named beside what is wrong with its name', () => {
  const yaml = minimal.replace('north: {', '"my feed": { drift: sometimes, timezone: Mars/One,')
  expect(() => load(yaml)).toThrow(
    /3 problems\n {2}feeds\.my feed: a feed name takes letters.*\n {2}feeds\.my feed\.timezone: is not a time zone .*\n {2}feeds\.my feed\.drift: takes/,
  )
})

test('nothing but the MLSNumber is filled into the address before images', () => {
  const withBase = (base: string) => load(minimal.replace('preset: zillow', `preset: zillow, imageBase: '${base}'`))
  expect(() => withBase('https://h.example/{City}/')).toThrow('feeds.north.imageBase: takes an address such as')
  expect(withBase('https://h.example/a-{MLSNumber}/').feeds).toHaveLength(1)
})

test('a number of a rule that is too small is told in words', () => {
  const rule = "fields: { City: { from: Place, split: ',', nth: 0 } }"
  expect(() => load(minimal.replace('preset: zillow', `preset: zillow, ${rule}`))).toThrow(
    'feeds.north.fields.City.nth: must be 1 or more',
  )
})

test.each([['sometimes'], ['0h'], ['-6h'], ['8d'], ['6'], [6], [0], ['true']])(
  'a list is read by every run or once in up to a week, not %j',
  (written) => {
    const yaml = minimal.replace('preset: zillow', `preset: zillow, observe: ${JSON.stringify(written)}`)
    expect(() => load(yaml)).toThrow(
      `feeds.north.observe: takes "every run" or a length of time above 0 and up to 7d, such as 6h, not ${JSON.stringify(written)}`,
    )
  },
)

test.each([
  ['every run', 0],
  ['6h', 6 * 3_600_000],
  ['7d', 7 * 86_400_000],
])('a list is read %j', (written, every) => {
  const { feeds } = load(minimal.replace('preset: zillow', `preset: zillow, observe: ${written}`))
  expect(feeds[0].observe).toBe(every)
  expect(load(minimal).feeds[0].observe).toBeNull()
})

test.each(['https://u:12/w@h/a.xml', 'https://u:12?w@h/a.xml?b=c', 'ftp://u:12#w@h/a.xml'])(
  'a password that ends the host early (%s) is not taken for a path',
  (source) => {
    const yaml = minimal.replace('feeds/*.xml', `'${source}'`)
    expect(() => load(yaml)).toThrow('has an @ after the host: in a user name, a password or a path write @ as %40')
    expect(() => load(yaml)).not.toThrow('w@h')
  },
)

test('a former name is given to one feed, and is no feed any more', () => {
  const feeds = (north: string, south: string): string => `
service: { baseUrl: https://listings.example.com/, sessionKey: key-of-session }
feeds:
  north: { chatbot: SN-1001, source: feeds/*.xml, preset: zillow, formerly: ${north} }
  south: { chatbot: SN-1001, source: feeds/*.xml, preset: zillow, formerly: ${south} }
`
  const problem = (yaml: string): string => {
    try {
      load(yaml)
      return 'none'
    } catch (error) {
      return (error as ConfigError).message
    }
  }
  expect([...load(feeds('[old, older]', '[other]')).place.formerly]).toEqual([
    ['old', 'north'],
    ['older', 'north'],
    ['other', 'south'],
  ])
  expect(problem(feeds('[old]', '[south]'))).toContain(
    'feeds.south.formerly.0: is the name that the feed has now; leave it out (line 5)',
  )
  expect(problem(feeds('[old, south]', '[]'))).toContain(
    'feeds.north.formerly.1: south is a feed of this configuration; take that feed out, or this name (line 4)',
  )
  expect(problem(feeds('[old]', '[other, old]'))).toContain(
    'feeds.south.formerly.1: north takes over what old had; a former name can only be given to one feed (line 5)',
  )
  expect(problem(feeds('[old name]', '[]'))).toContain('feeds.north.formerly.0: a feed name takes letters')
})

describe('what is resolved', () => {
  test('the commented configuration loads when its two variables are set', () => {
    const env = { LISTING_SECRET_KEY: 'secret-one', LISTING_SESSION_KEY: 'secret-two' }
    const secrets: string[] = []
    const learn = (found: string[]): void => void secrets.push(...found)
    const config = loadConfig('config/listing-sync.yaml', { env, readFile, learn }, makeMapping)
    expect(config.feeds.map(({ name }) => name)).toEqual(['north'])
    expect(new Set(secrets)).toEqual(new Set(['secret-one', 'secret-two']))
  })

  test('a store that is no file keeps its address, and has nothing beside it', () => {
    const yaml = minimal.replace('feeds:', 'store: toy://user:p%40ss@host/db\nfeeds:')
    expect(load(yaml)).toMatchObject({
      store: 'toy://user:p%40ss@host/db',
      beside: null,
    })
    expect(load(minimal).beside).toBe(load(minimal).store)
  })

  test('the settings that it shows as defaults are the defaults, and none is missing', () => {
    const env = { LISTING_SECRET_KEY: 'secret-one', LISTING_SESSION_KEY: 'secret-two' }
    const written = readFile('config/listing-sync.yaml')
    const shown = written
      .replace(/^ {4}# {3}Authorization.*\n/m, '')
      .replace(/^ {2}# {3}saleTypeShown:.*\n/m, '')
      .replace(/^ +# ca:.*\n/gm, '')
      .replace(
        /^ {4}# (headers|login|ready|fields|defaults|currency|placeholders|where|statuses|extension|numbers|removeWhen|hideAddress|comingSoon|attribution|imagesNotFrom|mlsPrefix|settings|verify|heartbeat|service|delivery|observe|encoding|member|repair|imageBase|join):.*\n( {4}# {3}.*\n)*/gm,
        '',
      )
      .replace(/^( +)# (?=[ a-zA-Z]+:)/gm, '$1')
    expect(shown).toContain('\n  rate: 5 ')
    const config = load(written, env)
    expect(load(shown, env)).toEqual(config)
    for (const name of settingNames(configJsonSchema())) expect(written).toMatch(new RegExp(`\\b${name}:`))
  })

  test('defaults, in milliseconds and bytes, with absolute paths', () => {
    const config = load(minimal)
    expect(config).toMatchObject({ directory: '/etc/sync', store: '/etc/sync/data/listing-sync.db' })
    expect(config.service).toEqual({
      baseUrl: 'https://listings.example.com',
      ca: null,
      maxAnswerBytes: 33_554_432,
      chat: { first: 60_000, idle: 30_000 },
      secretKey: null,
      sessionKey: 'key-of-session',
      rate: 5,
      concurrency: 4,
      timeout: 30_000,
      patience: 300_000,
      attempts: 5,
      backoff: { base: 500, max: 30_000 },
      profile: { pageSize: 100, deleteBatch: 50, virtualCount: 'unknown', clear: 'empty', nativeId: 'unknown' },
    })
    const [feed] = config.feeds
    expect(partsOf(feed).presetFile).toMatch(/\/config\/presets\/zillow\.yaml$/)
    expect(feed).toMatchObject({
      source: 'feeds/*.xml',
      delivery: null,
      schedule: null,
      transport: { encoding: null, member: null },
      plan: { settle: 900_000 },
    })
    expect(feed.plan.limits).toEqual({
      share: 20,
      growth: 75,
      confirm: 72 * 3_600_000,
      grace: { runs: 1, hours: 0 },
      read: { stall: 5000, total: 4 * 3_600_000 },
      isOff: false,
    })
    expect(feed.plan.volatile).toEqual({ fields: new Set(['DaysOnMarket']), refresh: 7 * 86_400_000 })
    expect([feed.transport.maxBytes, feed.transport.maxRecordBytes, feed.transport.transferTimeout]).toEqual([
      2 ** 34,
      2 ** 22,
      1_800_000,
    ])
  })

  test('a configuration with most settings', () => {
    const config = load(
      `
service:
  baseUrl: https://listings.example.com
  secretKey: \${LISTING_SECRET_KEY}
  sessionKey: \${LISTING_SESSION_KEY}
  rate: 5
  concurrency: 4
  timeout: 30s
  profile: { pageSize: 100, deleteBatch: 50 }
store: ./data/listing-sync.db
feeds:
  north:
    chatbot: SN-1001
    source: https://mls.example.com/export.xml.gz
    preset: ./presets/mine.yaml
    delivery: full
    schedule: "*/30 * * * *"
    timezone: America/Chicago
    fields: { HOAMonth: { from: Fees/Fee/FeeAmount, as: money } }
    defaults: { YearBuilt: 0 }
    where: { City: [Springfield, Shelbyville] }
    limits: { share: 20, growth: 75 }
    service: { sessionKey: "\${OTHER_KEY}", profile: { deleteBatch: 10 } }
`,
      { LISTING_SECRET_KEY: 'secret-one', LISTING_SESSION_KEY: 'secret-two', OTHER_KEY: 'secret-three' },
    )
    const [feed] = config.feeds
    expect(partsOf(feed).presetFile).toBe('/etc/sync/presets/mine.yaml')
    expect(partsOf(feed).options).toEqual({
      fields: { HOAMonth: { from: 'Fees/Fee/FeeAmount', as: 'money' } },
      defaults: { YearBuilt: 0 },
      where: { City: ['Springfield', 'Shelbyville'] },
      delivery: 'full',
    })
    expect(feed.service).toEqual({
      ...config.service,
      sessionKey: 'secret-three',
      profile: { ...config.service.profile, deleteBatch: 10 },
    })
  })

  test("a feed's own service keeps what it does not change, and takes no keys to another origin", () => {
    const config = load(`
service: { baseUrl: https://listings.example.com, secretKey: key-of-secret, sessionKey: key-of-session, rate: 2, timeout: 5s }
feeds:
  north: { chatbot: SN-1, source: a.xml, preset: zillow,
    service: { baseUrl: "https://elsewhere.example.com", secretKey: other-secret } }
  south: { chatbot: SN-2, source: a.xml, preset: zillow, service: { baseUrl: "https://listings.example.com/v2/", rate: 1 } }
`)
    expect(config.feeds[0].service).toMatchObject({
      secretKey: 'other-secret',
      sessionKey: null,
      rate: 2,
      timeout: 5000,
    })
    expect(config.feeds[1].service).toMatchObject({ secretKey: 'key-of-secret', sessionKey: 'key-of-session', rate: 1 })
  })

  test('references: variables, defaults, files, and none in what they give', () => {
    const config = load(
      `
service: { baseUrl: "https://\${HOST:-listings.example.com}/\${NAME}", secretKey: "\${file:secrets/key}", rate: "\${RATE}" }
store: $\${NAME}
feeds:
  "\${NAME}": { chatbot: a, source: b, preset: c }
`.replace('"${NAME}": {', 'north: {'),
      { NAME: '${HOST}', RATE: '2.5' },
      { '/etc/sync/secrets/key': 'from-a-file\n' },
    )
    expect(config.service.baseUrl).toBe('https://listings.example.com/${HOST}')
    expect(config.service).toMatchObject({ secretKey: 'from-a-file', rate: 2.5 })
    expect(config.store).toBe('/etc/sync/${NAME}')
  })

  test('what the type of the written configuration takes, the reader takes', () => {
    const written: WrittenConfig = {
      service: { baseUrl: 'http://localhost:8080', rate: '2', profile: { deleteBatch: 5 } },
      feeds: {
        north: {
          chatbot: '1001',
          source: 'a.csv',
          preset: 'reso-csv',
          maxBytes: '1.5KB',
          limits: { share: 0, confirm: 'never' },
        },
      },
    }
    const config = load(stringify(written))
    expect(config.service).toMatchObject({ rate: 2, profile: { deleteBatch: 5, pageSize: 100 } })
    expect(config.feeds[0]).toMatchObject({
      chatbot: '1001',
      transport: { maxBytes: 1536 },
      limits: { share: 0, growth: 75, confirm: null },
    })
  })

  test('how sale types are spelled takes two texts that differ', () => {
    const spelled = (saleTypeShown: object) =>
      load(
        stringify({
          service: { baseUrl: 'http://localhost:8080', profile: { saleTypeShown } },
          feeds: { north: { chatbot: '1001', source: 'a.csv', preset: 'reso-csv' } },
        }),
      ).service.profile.saleTypeShown
    expect(spelled({ for_sale: '1', for_rent: '2' })).toEqual({ for_sale: '1', for_rent: '2' })
    expect(() => spelled({ for_sale: '1', for_rent: ' 1' })).toThrow(
      'service.profile.saleTypeShown: is the same for both',
    )
  })

  test('the first configuration of the README loads', () => {
    const yaml = /```yaml\n([^]*?)```/.exec(readFile('README.md'))?.[1] ?? ''
    expect(load(yaml, { LISTING_SESSION_KEY: 'secret-two' }).feeds[0].schedule).toBe('*/30 * * * *')
  })

  test('a service on this machine needs no key', () => {
    for (const host of ['127.0.0.1:8080', 'localhost', '[::1]:80']) {
      const config = load(
        minimal.replace('https://listings.example.com/, sessionKey: key-of-session', `"http://${host}"`),
      )
      expect(config.service).toMatchObject({ secretKey: null, sessionKey: null })
    }
  })

  test('secrets are named: what files hold, keys, header values, what an address carries', () => {
    const secrets: string[] = []
    load(
      `
service: { baseUrl: https://listings.example.com, sessionKey: key-of-session }
feeds:
  north:
    chatbot: SN-1
    preset: zillow
    defaults: { City: '\${file:city}' }
    source: https://user:p%40ss@mls.example.com/a.xml?form=full&token=query-secret
    headers: { Authorization: Bearer header-secret }
  south:
    chatbot: SN-1
    preset: zillow
    source: sftp://user@mls.example.com/a.xml
    login:
      password: login-secret
      privateKey: key-secret
      passphrase: phrase-secret
      hostKey: SHA256:lyz52WWmmePJAJ3Wo2Dv9BaGqdDT7sN2ZkPZzkxOTnk
    service: { secretKey: key-of-south }
  west: { chatbot: SN-1, preset: zillow, source: 'ftp://user:p%3Ass@mls.example.com/a.xml' }
`,
      {},
      { '/etc/sync/city': 'from-a-file' },
      withZillow,
      (found) => secrets.push(...found),
    )
    expect(secrets).toEqual([
      'from-a-file',
      'key-of-session',
      'key-of-south',
      'p%40ss',
      'p@ss',
      'query-secret',
      'Bearer header-secret',
      'header-secret',
      'login-secret',
      'key-secret',
      'phrase-secret',
      'p%3Ass',
      'p:ss',
    ])
  })

  test('names of prototypes are ordinary or refused', () => {
    expect(() => load(minimal.replace('north:', '__proto__:'))).toThrow(ConfigError)
    expect(load(minimal.replace('north:', 'constructor:')).feeds[0].name).toBe('constructor')
    const config = load(minimal.replace('preset: zillow', 'preset: zillow, defaults: { __proto__: { City: x } }'))
    expect(partsOf(config.feeds[0]).options.defaults).not.toHaveProperty('City')
  })

  test('aliases that multiply are refused', () => {
    const bomb = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(', ')}]`)
    expect(() => load(`a0: &a0 [x]\n${bomb.join('\n')}\n`)).toThrow(/alias/i)
  })
})

test.each([
  ['password: *hunter2', 'line 2: A value that begins with * must be in quotes: password: …'],
  ['password: !hunter2', 'line 2: A value that begins with ! must be in quotes: password: …'],
  ['password: "hunter2\\q"', 'line 2: Invalid escape sequence: password: …'],
  ['password: "hunter2" hunter2', 'line 2: Unexpected scalar at node end: password: …'],
  ['password: "hunter2', 'line 3: Missing closing quote: …'],
  ['rate: hunter2, password: hunter2', 'line 2: Nested mappings are not allowed in compact mappings: rate: …'],
  ['timeout: 5s: hunter2', 'line 2: Nested mappings are not allowed in compact mappings: timeout: …'],
  ['rate: &hunter2 *hunter2', 'line 2: A value that begins with * must be in quotes: rate: …'],
  ['privateKey: |hunter2', 'line 2: Block scalar header includes extra characters: privateKey: …'],
  ['hunter2: @hunter2', 'line 2: Plain value cannot start with reserved character @: …'],
  ['timeout: 5s\n  timeout: 10s', 'line 3: A key stands twice in the same place; leave one of them out: timeout: 10s'],
  [
    'password: hunter2\n  password: hunter2',
    'line 3: A key stands twice in the same place; leave one of them out: password: …',
  ],
  ['{password hunter2}: 1', null],
  ['{password: hunter2}: 1', null],
  ['login: {password hunter2}', 'login.…: unknown key; did you mean "password"? (line 4)'],
  ['headers: {"X-Key hunter2": x}', 'headers.…: is not a header name (line 4)'],
  ['login: {password: 60607}', 'login.password: takes text; put it in quotes, exactly as it is spelled (line 4)'],
])('a wrong line says nothing that may be a secret: %s', (line, problem) => {
  const asFeed = problem?.endsWith(')')
  const feed = `feeds:\n  north:\n    chatbot: SN\n    ${line}\n`
  let found: unknown
  const warned = vi.spyOn(process, 'emitWarning')
  try {
    load(asFeed ? feed : `service:\n  ${line}\n`)
  } catch (error) {
    found = error
  }
  expect(found).toBeInstanceOf(ConfigError)
  const { problems } = found as ConfigError
  if (problem !== null)
    expect(problems.map((text) => text.split('\n')[0])).toContain(asFeed ? `feeds.north.${problem}` : problem)
  expect(String(found)).not.toMatch(/hunter2|60607/)
  expect(warned).not.toHaveBeenCalled()
  warned.mockRestore()
})

test('the place of a mistake is shown in three lines, with a caret', () => {
  const problemOf = (yaml: string): string => {
    try {
      load(yaml)
      return ''
    } catch (error) {
      return (error as ConfigError).message
    }
  }
  expect(
    problemOf('feeds:\n  north: { chatbot: SN, schedule: */30 * * * *, preset: zillow }\n').split('\n').slice(2),
  ).toEqual([
    '   1 | feeds:',
    '   2 | ··… chatbot: … schedule: … preset: …',
    '                                ^',
    '   3 | ',
  ])
  expect(problemOf('service:\n    rate: 5\n    rate: 6\n    password: hunter2\n').split('\n').slice(2)).toEqual([
    '   2 | ····rate: 5',
    '   3 | ····rate: 6',
    '           ^',
    '   4 | ····password: …',
  ])
})

test('what came from a reference is a secret, except where only words and numbers stand, and a default', () => {
  const secrets: string[] = []
  const yaml = `
service: { baseUrl: 'https://\${HOST}', sessionKey: '\${KEY}', rate: '\${RATE}' }
store: '\${STORE:-./in-the-file.db}'
feeds: { north: { chatbot: '\${BOT}', source: 'https://mls.example.com/\${PLACE}/a.xml', preset: zillow } }
`
  const env = { HOST: 'listings.example.com', KEY: 'the-key', RATE: '5000', BOT: 'SN-1001', PLACE: 'a-place' }
  load(yaml, { ...env, RATE: '50.000' }, {}, withZillow, (found) => secrets.push(...found))
  expect(new Set(secrets)).toEqual(new Set(['listings.example.com', 'the-key', 'a-place']))
})

test.each([
  ['https://h.example/f/8f14e45fceea167a5a36dedd4bea2543/a.xml', ['8f14e45fceea167a5a36dedd4bea2543']],
  ['https://h.example/9b2d7c1e-4f3a-4a58-8c11-0d2f6a7b9e10.xml', ['9b2d7c1e-4f3a-4a58-8c11-0d2f6a7b9e10']],
  ['sftp://u@h.example/drop/tok_9aX3kQ7vZ2mB4/a.xml', ['tok_9aX3kQ7vZ2mB4']],
  ['https://h.example/a.xml?key=short&format=xml', ['short']],
  ['https://h.example/exports/listings-2026-11-22/residential-for-sale.xml?form=full', []],
])('the tokens of %s are secrets', (source, expected) => {
  expect(sourceSecrets(source).filter((secret, i, all) => all.indexOf(secret) === i)).toEqual(expected)
})

test('a damaged configuration gives problems, never another error', () => {
  const written = readFile('config/listing-sync.yaml').replace(/^( +)# (?=[ a-zA-Z]+:)/gm, '$1')
  const pieces = fc.constantFrom(
    '',
    ' ',
    '\n',
    ':',
    '- ',
    '"',
    '{',
    '}',
    '${',
    '&a',
    '*a',
    '!!js',
    '|',
    '1',
    'null',
    '\t',
    '?',
  )
  fc.assert(
    fc.property(fc.nat(written.length), fc.nat(6), pieces, (start, length, piece) => {
      try {
        load(written.slice(0, start) + piece + written.slice(start + length), { LISTING_SECRET_KEY: 'secret-one' })
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        expect(error.problems.length).toBeGreaterThan(0)
      }
    }),
    { numRuns: 500 },
  )
})

test('a damaged mapping gives problems, never another error', () => {
  const beginning = minimal.replace(/north: .*\n/, 'north:\n    chatbot: a\n    source: a.xml\n    preset: zillow')
  const mapping = `
    fields: { Bedrooms: { from: [A, 'b/@c'], as: number, min: 1 }, Url: { template: 'https://a.example/{MLSNumber}' } }
    defaults: { YearBuilt: 0, City: Springfield }
    where: { City: [Springfield], 'Location/State': OR, Bedrooms: [1, 2] }
    statuses: { Gone: remove, Closed: { for_sale: Sold, for_rent: remove } }
    extension: { Floor: Details/Floor }
`
  const names = fc.constantFrom(
    '',
    ' ',
    '\n',
    ':',
    '{',
    '}',
    '[',
    ']',
    "'",
    '__proto__',
    '5',
    'null',
    'Citty',
    '//',
    '.',
  )
  fc.assert(
    fc.property(fc.nat(mapping.length), fc.nat(12), names, (start, length, piece) => {
      const damaged = mapping.slice(0, start) + piece + mapping.slice(start + length)
      try {
        load(`${beginning}${damaged}`, {}, {}, makeMapping)
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error
        expect(error.problems.length).toBeGreaterThan(0)
        expect(error.problems.join('\n')).not.toMatch(/Invalid (input|option|key)|Unrecognized|\bexpected /)
      }
    }),
    { numRuns: 200 },
  )
})

test('config/schema.json is what the schema says', () => {
  expect(JSON.parse(readFile('config/schema.json')), 'run: npm run schema').toEqual(configJsonSchema())
})
