/**
 * Carries out the Dockerfile without an engine: each stage is a folder, in which its steps run with an environment of their
 * own. The base image is this machine's Node and npm; absolute paths of a step are those of its folder.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, normalize } from 'node:path'

/** A stage that was carried out. */
export interface Stage {
  /** Its `/`. */
  root: string
  workdir: string
  env: Record<string, string>
  entrypoint: string[]
  cmd: string[]
  healthcheck: string[]
  labels: Record<string, string>
  /** As written: `10001:0`. */
  user: string
}

/** The last stage, in `folder`; `context` is the folder that it is built from, `given` its `--build-arg`s. Throws where a step fails, with what it said. */
export function carriedOut(context: string, folder: string, given: Readonly<Record<string, string>> = {}): Stage {
  const args: Record<string, string> = { ...given }
  const stages = new Map<string, Stage>()
  const ignored = ignoring(readFileSync(join(context, '.dockerignore'), 'utf8'))
  let stage: Stage | null = null
  for (const { name, rest } of instructions(readFileSync(join(context, 'Dockerfile'), 'utf8'))) {
    if (name === 'ARG') {
      const [key, value = ''] = rest.split('=')
      args[key] ??= value
    } else if (name === 'FROM') {
      const [image, as = `${stages.size}`] = rest.split(/\s+AS\s+/i)
      if (image !== '${BASE}' || args['BASE'] === undefined) throw new Error(`FROM ${image} is not the base image`)
      stage = begun(join(folder, as))
      stages.set(as, stage)
    } else step(name, filled(rest, args), stage!, { context, stages, ignored })
  }
  return stage!
}

/** `${NAME}` of a build's argument; others are the shell's. */
function filled(text: string, args: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => args[name] ?? whole)
}

function begun(root: string): Stage {
  for (const path of ['tmp', 'usr/local/bin', 'home']) mkdirSync(join(root, path), { recursive: true })
  symlinkSync(process.execPath, join(root, 'usr/local/bin/node'))
  return { root, workdir: '/', env: {}, entrypoint: [], cmd: [], healthcheck: [], labels: {}, user: '' }
}

interface Surroundings {
  context: string
  stages: ReadonlyMap<string, Stage>
  ignored: (path: string) => boolean
}

function step(name: string, rest: string, stage: Stage, surroundings: Surroundings): void {
  const { root } = stage
  if (name === 'WORKDIR') {
    stage.workdir = rest
    mkdirSync(join(root, rest), { recursive: true })
  } else if (name === 'ENV') {
    for (const [, key, value] of rest.matchAll(/(\w+)=(\S+)/g)) stage.env[key] = value
  } else if (name === 'COPY') copy(rest, stage, surroundings)
  else if (name === 'RUN') run(rest, stage)
  else if (name === 'LABEL') {
    for (const [, key, value] of rest.matchAll(/([\w.]+)="([^"]*)"/g)) stage.labels[key] = value
  } else if (name === 'USER') stage.user = rest
  else if (name === 'ENTRYPOINT') stage.entrypoint = JSON.parse(rest) as string[]
  else if (name === 'CMD') stage.cmd = JSON.parse(rest) as string[]
  else if (name === 'HEALTHCHECK') stage.healthcheck = JSON.parse(rest.replace(/^.*?CMD\s+/, '')) as string[]
  else if (!['VOLUME', 'STOPSIGNAL', 'EXPOSE'].includes(name)) throw new Error(`${name} is not known`)
}

function copy(rest: string, { root, workdir }: Stage, { context, stages, ignored }: Surroundings): void {
  const words = rest.split(/\s+/)
  const from = words[0].startsWith('--from=') ? words.shift()!.slice(7) : null
  const target = words.pop()!
  const source = from === null ? context : stages.get(from)!.root
  for (const word of words) {
    const path = join(source, word)
    const isInto = target.endsWith('/') || words.length > 1
    const to = within(root, workdir, isInto && !statSync(path).isDirectory() ? join(target, basename(word)) : target)
    mkdirSync(dirname(to), { recursive: true })
    const isTaken = (each: string): boolean =>
      from !== null || each === path || !ignored(each.slice(context.length + 1))
    if (from === null && ignored(word)) throw new Error(`COPY ${word}: .dockerignore leaves it out`)
    cpSync(path, to, { recursive: true, verbatimSymlinks: true, filter: isTaken })
  }
}

function within(root: string, workdir: string, path: string): string {
  return join(root, isAbsolute(path) ? path : join(workdir, path))
}

/** Owners are not set: who may do that for other users is root alone. */
function run(command: string, { root, workdir, env }: Stage): void {
  const own = command.replaceAll(/(?<=\s|^)\/(?=\w)/g, `${root}/`).replaceAll(/&& chown \S+ \S+/g, '')
  const npm = dirname(process.execPath)
  const usual = { PATH: `${root}/usr/local/bin:${npm}:/usr/local/bin:/usr/bin:/bin`, HOME: join(root, 'home') }
  const cache = process.env['npm_config_cache'] ?? join(process.env['HOME'] ?? '/root', '.npm')
  const registry = process.env['npm_config_registry']
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', own], {
    cwd: join(root, workdir),
    env: {
      ...usual,
      ...env,
      npm_config_cache: cache,
      npm_config_prefer_offline: 'true',
      ...(registry !== undefined && { npm_config_registry: registry }),
    },
  })
  if (status !== 0) throw new Error(`RUN ${command}: ${stdout.toString()}${stderr.toString()}`)
}

function instructions(text: string): { name: string; rest: string }[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))
  const whole = lines
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
  return whole.map((line) => {
    const [, name, rest] = /^(\w+)\s+(.*)$/.exec(line.trim())!
    return { name: name.toUpperCase(), rest }
  })
}

/** Whether a path of the context is left out: the last pattern that fits it, or a folder that it is in, decides. */
function ignoring(text: string): (path: string) => boolean {
  const patterns = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const fits = (path: string, pattern: string): boolean => {
    const steps = normalize(path).split('/')
    return steps.some((_, index) => globOf(pattern).test(steps.slice(0, index + 1).join('/')))
  }
  return (path) => {
    const last = patterns.findLast((pattern) => fits(path, pattern.replace(/^!/, '')))
    return last !== undefined && !last.startsWith('!')
  }
}

function globOf(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('**/', '\u0000')
    .replaceAll('*', '[^/]*')
    .replaceAll('\u0000', '(?:.*/)?')
  return new RegExp(`^${source}$`)
}

/** The words that start a container with these arguments, in the stage's folder. */
export function startOf({ root, entrypoint, cmd }: Stage, words: readonly string[] = cmd): [string, string[]] {
  const [command, ...first] = [...entrypoint, ...words]
  const path = join(root, 'usr/local/bin', command)
  return [existsSync(path) ? path : command, first]
}
