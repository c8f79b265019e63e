/** What lies in deploy/: it holds together, takes away every right that it can, and its commands are the program's. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { exitStatus } from '../src/core/exit.ts'
import { executed } from './support/program.ts'

interface Container {
  args: string[]
  env: { name: string; value: string }[]
  securityContext: object
  livenessProbe?: { exec: { command: string[] } }
  startupProbe?: { exec: { command: string[] } }
  volumeMounts: { name: string; mountPath: string }[]
}

interface Pod {
  securityContext: object
  containers: Container[]
  volumes: { name: string }[]
  terminationGracePeriodSeconds: number
}

const read = (file: string): string => readFileSync(new URL(`../deploy/${file}`, import.meta.url), 'utf8')
const image = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8')

function documents(file: string): Record<string, any>[] {
  return parseAllDocuments(read(file)).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as Record<string, any>
  })
}

const machine = { env: {}, signal: new AbortController().signal }

async function assertPod(pod: Pod, command: string): Promise<void> {
  const [container] = pod.containers
  expect(container.args).toEqual([command])
  expect(await executed([...container.args, '--help'], machine)).toMatchObject({ status: 0 })
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
  const [, config] = /LISTING_SYNC_CONFIG=(\S+)\/listing-sync.yaml/.exec(image)!
  expect(mounts).toContain(config)
  expect(mounts).toContain(container.env.find(({ name }) => name === 'TMPDIR')!.value)
  for (const { exec } of [container.livenessProbe, container.startupProbe].filter((probe) => probe !== undefined))
    expect(image).toContain(JSON.stringify(exec.command).replaceAll(',', ', '))
}

test('kubernetes.yaml: one daemon, on a volume that is its own', async () => {
  const [claim, deployment] = documents('kubernetes.yaml')
  expect(claim).toMatchObject({ kind: 'PersistentVolumeClaim', spec: { accessModes: ['ReadWriteOncePod'] } })
  const { spec } = deployment
  expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
  expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels)
  await assertPod(spec.template.spec as Pod, 'daemon')
  expect(spec.template.spec.containers[0]).toHaveProperty('livenessProbe')
})

test('cronjob.yaml: one sync at a time, which is not repeated where that ends nothing', async () => {
  const [job] = documents('cronjob.yaml')
  expect(job.spec).toMatchObject({ concurrencyPolicy: 'Forbid' })
  const { podFailurePolicy, template } = job.spec.jobTemplate.spec
  const { held, partial, usage, configuration } = exitStatus
  expect(podFailurePolicy.rules[0].onExitCodes.values).toEqual([held, partial, usage, configuration])
  await assertPod(template.spec as Pod, 'sync')
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
