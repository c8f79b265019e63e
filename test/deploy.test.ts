/**
 * What lies in deploy/: it is what its schema says and holds together, takes away every right that it can, and its commands
 * and configurations are the program's.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../src/config/config.ts'
import type { Config } from '../src/config/config.ts'
import { mappingMaker } from '../src/config/presets.ts'
import { exitStatus } from '../src/core/exit.ts'
import { listenPlace } from '../src/http/settings.ts'
import { Served } from './http/served.ts'
import { composeProblems, kubernetesProblems } from './support/manifests.ts'
import { executed } from './support/program.ts'

interface Probe {
  exec?: { command: string[] }
  httpGet?: { path: string; port: string }
  timeoutSeconds?: number
}

interface Container {
  args: string[]
  env: { name: string; value: string }[]
  securityContext: object
  livenessProbe?: Probe
  startupProbe?: Probe
  readinessProbe?: Probe
  volumeMounts: { name: string; mountPath: string; readOnly?: true }[]
  ports?: { name: string; containerPort: number }[]
}

interface Pod {
  securityContext: object
  containers: Container[]
  volumes: ({ name: string } & Record<string, unknown>)[]
  terminationGracePeriodSeconds: number
}

const read = (file: string): string => readFileSync(new URL(`../deploy/${file}`, import.meta.url), 'utf8')
const image = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8')
const [, configFolder] = /LISTING_SYNC_CONFIG=(\S+)\/listing-sync.yaml/.exec(image)!

function documents(file: string): Record<string, any>[] {
  return parseAllDocuments(read(file)).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as Record<string, any>
  })
}

/** The program takes the words for a command and its options: all that it lacks is a configuration. */
async function assertCommand(words: string[]): Promise<void> {
  const ended = await executed(words, { env: { LISTING_SYNC_CONFIG: '/nowhere/listing-sync.yaml' } })
  expect(ended, words.join(' ')).toMatchObject({
    status: exitStatus.configuration,
    stderr: expect.stringContaining('/nowhere/listing-sync.yaml'),
  })
}

async function assertPod(pod: Pod, command: string[]): Promise<void> {
  const [container] = pod.containers
  expect(container.args).toEqual(command)
  await assertCommand(command)
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001, runAsGroup: 0 })
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  // SIGTERM leaves calls in flight eight seconds.
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(10)
  expect(container.volumeMounts.map(({ name }) => name).toSorted()).toEqual(
    pod.volumes.map(({ name }) => name).toSorted(),
  )
  const mounts = container.volumeMounts.map(({ mountPath }) => mountPath)
  expect(mounts).toContain(configFolder)
  expect(mounts).toContain(container.env.find(({ name }) => name === 'TMPDIR')!.value)
  for (const { exec, timeoutSeconds } of probesOf(container)) {
    // Without it a probe has one second, in which a busy machine does not even start Node.
    expect(timeoutSeconds).toBe(10)
    if (exec !== undefined) expect(image).toContain(JSON.stringify(exec.command).replaceAll(',', ', '))
  }
}

const probesOf = ({ livenessProbe, startupProbe, readinessProbe }: Container): Probe[] =>
  [livenessProbe, startupProbe, readinessProbe].filter((probe) => probe !== undefined)

/** What the program makes of a configuration that lies in a container with these files; a file that is missing is a problem. */
function configOf(text: string, secrets: readonly string[]): Config {
  const files = new Map(secrets.map((path) => [path, 'a-secret-of-the-test-0123456789']))
  files.set(`${configFolder}/listing-sync.yaml`, text)
  const readFile = (path: string): string => {
    const found = files.get(path)
    if (found === undefined) throw new Error(`${path} is not there`)
    return found
  }
  return loadConfig(`${configFolder}/listing-sync.yaml`, { env: {}, readFile, learn: () => undefined }, mappingMaker())
}

test('the manifests are what the schemas of Kubernetes say, and the compose files what that of Compose says', () => {
  for (const file of ['kubernetes.yaml', 'cronjob.yaml', 'scale-out/kubernetes.yaml', 'scale-out/secret.yaml'])
    for (const object of documents(file)) expect(kubernetesProblems(object), `${file}, ${object.kind}`).toEqual([])
  for (const file of ['compose.yaml', 'scale-out/compose.yaml'])
    expect(composeProblems(parse(read(file))), file).toEqual([])
})

test('a schema finds a wrong type, a name that it does not know, and what is missing', () => {
  const [, deployment] = documents('scale-out/kubernetes.yaml')
  const [container] = deployment.spec.template.spec.containers
  deployment.spec.replicas = '3'
  delete deployment.spec.selector
  container.livenesProbe = container.livenessProbe
  expect(kubernetesProblems(deployment)).toEqual([
    '/spec (required)',
    '/spec/replicas (type)',
    expect.stringMatching(/^\/spec\/template\/spec\/containers\/0\/livenesProbe is unknown$/),
    ...['/httpGet', '/httpGet/path', '/httpGet/port', '/periodSeconds', '/timeoutSeconds', '/failureThreshold'].map(
      (path) => `/spec/template/spec/containers/0/livenesProbe${path} is unknown`,
    ),
  ])
  const compose = parse(read('scale-out/compose.yaml'))
  compose.services.worker.replicas = 3
  compose.services.worker.cap_drop = 'ALL'
  expect(composeProblems(compose)).toEqual([
    '/services/worker (additionalProperties)',
    '/services/worker/cap_drop (type)',
  ])
})

test('kubernetes.yaml: one daemon, on a volume that is its own', async () => {
  const [claim, deployment] = documents('kubernetes.yaml')
  expect(claim).toMatchObject({ kind: 'PersistentVolumeClaim', spec: { accessModes: ['ReadWriteOncePod'] } })
  const { spec } = deployment
  expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
  expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels)
  await assertPod(spec.template.spec as Pod, ['daemon'])
  expect(spec.template.spec.containers[0]).toHaveProperty('livenessProbe')
})

test('cronjob.yaml: one sync at a time, which is not repeated where that ends nothing', async () => {
  const [job] = documents('cronjob.yaml')
  expect(job.spec).toMatchObject({ concurrencyPolicy: 'Forbid' })
  const { podFailurePolicy, template } = job.spec.jobTemplate.spec
  expect(podFailurePolicy.rules[0].onExitCodes.values).toEqual(endsNothing)
  await assertPod(template.spec as Pod, ['sync'])
})

/** Exit statuses after which another try would end with the same one. */
const endsNothing = [exitStatus.held, exitStatus.partial, exitStatus.usage, exitStatus.configuration]

test('scale-out/kubernetes.yaml: workers that leave nothing on their machines, their page, and a load by hand', async () => {
  const [configMap, deployment, budget, service, job] = documents('scale-out/kubernetes.yaml')
  const [secret] = documents('scale-out/secret.yaml')
  const { spec } = deployment
  expect(spec).toMatchObject({ replicas: 3, strategy: { type: 'Recreate' } })
  const labels = spec.selector.matchLabels
  expect(spec.template.metadata.labels).toEqual(labels)
  for (const selector of [
    budget.spec.selector.matchLabels,
    service.spec.selector,
    spec.template.spec.topologySpreadConstraints[0].labelSelector.matchLabels,
  ])
    expect(selector).toEqual(labels)
  const pod = spec.template.spec as Pod
  await assertPod(pod, ['daemon', '--workers', '4'])
  const load = job.spec.jobTemplate.spec
  expect(job.spec).toMatchObject({ suspend: true, concurrencyPolicy: 'Forbid' })
  expect(load.podFailurePolicy.rules[0].onExitCodes.values).toEqual(endsNothing)
  // A pod of the load is none of the workers: no page, no share of their disruption budget.
  expect(load.template.metadata?.labels).toBeUndefined()
  await assertPod(load.template.spec as Pod, ['backfill', 'north'])

  for (const { containers, volumes } of [pod, load.template.spec as Pod]) {
    expect(volumes.map(({ name, ...what }) => [name, Object.keys(what)])).toEqual([
      ['config', ['configMap']],
      ['secrets', ['secret']],
      ['data', ['emptyDir']],
    ])
    expect(volumes).toMatchObject([
      { configMap: { name: configMap.metadata.name } },
      { secret: { secretName: secret.metadata.name } },
      {},
    ])
    expect(containers[0].volumeMounts).toMatchObject([{ readOnly: true }, { readOnly: true }, { mountPath: '/data' }])
  }
  const [{ volumeMounts, ports }] = pod.containers
  const folder = volumeMounts.find(({ name }) => name === 'secrets')!.mountPath
  const names = Object.keys(secret.stringData as object)
  const config = configOf(
    configMap.data['listing-sync.yaml'] as string,
    names.map((name) => `${folder}/${name}`),
  )
  expect(config).toMatchObject({ literalSecrets: [], store: expect.stringMatching(/^postgres:/) })
  expect(config.feeds.map(({ name }) => name)).toContain('north')
  expect(config.feeds.every(({ schedule }) => schedule !== null)).toBe(true)
  expect(ports).toEqual([{ name: 'pages', containerPort: listenPlace(config.http!.listen)!.port }])
  expect(service.spec).toMatchObject({ sessionAffinity: 'ClientIP', ports: [{ targetPort: 'pages' }] })

  // Asked as the kubelet asks: by address, without a token.
  const served = await Served.start()
  try {
    for (const { httpGet } of probesOf(pod.containers[0])) {
      expect(httpGet!.port).toBe('pages')
      expect(await served.ask(httpGet!.path)).toMatchObject({ status: 200 })
    }
    expect(probesOf(pod.containers[0])).toHaveLength(3)
  } finally {
    await served.end()
  }
})

test('scale-out/secret.yaml: no value stands in it, and each can be filled in', () => {
  const [{ stringData }] = documents('scale-out/secret.yaml')
  for (const value of Object.values(stringData as object)) expect(value).toMatch(/^\$\{[A-Z_]+\}$/)
})

test('scale-out/compose.yaml: a database, and three workers with their pages on this machine alone', async () => {
  const { services, secrets } = parse(read('scale-out/compose.yaml'))
  const { worker, database } = services
  expect(Object.keys(services)).toEqual(['database', 'worker'])
  for (const service of [worker, database]) {
    expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    expect(service).not.toHaveProperty('privileged')
    expect(service['user']).not.toMatch(/^(?:0|root)\b/)
  }
  expect(worker).toMatchObject({ read_only: true, deploy: { replicas: 3 }, user: '10001:10001' })
  await assertCommand(worker.command)
  expect(worker.command.slice(0, 2)).toEqual(['daemon', '--workers'])
  const config = configOf(
    read('scale-out/listing-sync.yaml'),
    (worker.secrets as string[]).map((name) => `/run/secrets/${name}`),
  )
  expect(config.literalSecrets).toEqual([])
  const { hostname, username, pathname } = new URL(config.store)
  const { POSTGRES_USER, POSTGRES_DB, ...others } = database.environment
  expect([hostname, username, pathname]).toEqual(['database', POSTGRES_USER, `/${POSTGRES_DB}`])
  expect(others).toEqual({ POSTGRES_PASSWORD_FILE: '/run/secrets/database-password' })
  const { port } = listenPlace(config.http!.listen)!
  expect(worker.ports).toEqual([`127.0.0.1:${port}-${port + 2}:${port}`])
  expect(worker.volumes).toEqual([`./listing-sync.yaml:${configFolder}/listing-sync.yaml:ro`, '/data'])
  for (const name of [...worker.secrets, ...database.secrets])
    expect(secrets[name], name).toEqual({ file: `./${name}` })
})

test('listing-sync.service: systemd takes it, and reload is the signal that the daemon knows', () => {
  const unit = read('listing-sync.service')
  expect(unit).toMatch(/^ExecReload=\/bin\/kill -HUP \$MAINPID$/m)
  expect(unit).toMatch(/^ExecStart=\/usr\/bin\/env listing-sync daemon$/m)
  expect(unit).toMatch(/^NoNewPrivileges=true$/m)
  // Every line is a section, a comment or a setting; where systemd is at hand, it reads the unit itself.
  for (const line of unit.split('\n')) expect(line).toMatch(/^(?:|#.*|\[(?:Unit|Service|Install)\]|[A-Z]\w+=.*)$/)
  const file = new URL('../deploy/listing-sync.service', import.meta.url).pathname
  const { error, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  if (error === undefined)
    expect(stderr.split('\n').filter((line) => line.includes('listing-sync.service:'))).toEqual([])
})
