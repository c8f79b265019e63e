/** The alert rules and the dashboard in deploy/ ask for nothing that /metrics does not print. */
import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { homes, zillowFeed } from '../support/homes.ts'
import { until } from '../support/until.ts'
import { Served } from './served.ts'

const read = (file: string): string => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; action: string }
}

/** Names of samples and the names of their labels, as they are printed. */
const printed = new Map<string, Set<string>>()
let served: Served
beforeAll(async () => {
  served = await Served.start({}, { deliver: (world) => world.deliver(zillowFeed(homes(1, 6))) })
  await until(() => served.runs() === 1)
  // Something is held, rejected, and failed, so that every family has a sample.
  served.world.deliver(zillowFeed(homes(1, 2)).replace(/<Bedrooms>[^<]*/, '<Bedrooms>a few'))
  await served.runAgain()
  for (const line of (await served.ask('/metrics')).text.split('\n')) {
    const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    if (name === undefined) continue
    const known = printed.get(name) ?? new Set()
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label)
    printed.set(name, known)
  }
})
afterAll(async () => {
  await served.end()
})

/** What an expression asks for that is not printed. */
function strangers(expression: string): string[] {
  // What a delivery says of itself only some formats have.
  const isFiring = (name: string): boolean =>
    printed.has(name) || name === 'listing_sync_delivery_written_timestamp_seconds'
  const names = [...expression.matchAll(/\blisting_sync_\w+/g)].map(([name]) => name)
  const labels = [...expression.matchAll(/\b(listing_sync_\w+)\{([^}]*)\}/g)].flatMap(([, name, written]) =>
    [...written.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)]
      .map(([, label]) => label)
      .filter((label) => printed.has(name) && !printed.get(name)!.has(label))
      .map((label) => `${name}{${label}}`),
  )
  return [...names.filter((name) => !isFiring(name)), ...labels]
}

/** Whether Prometheus' own grammar takes an expression. */
function isExpression(expression: string): boolean {
  let isRight = true
  parser
    .parse(expression.replaceAll('$feed', 'north'))
    .iterate({ enter: ({ type }) => void (isRight &&= !type.isError) })
  return isRight
}

const { groups } = parse(read('alerts.yaml')) as { groups: { name: string; rules: Rule[] }[] }
const rules = groups.flatMap((group) => group.rules)

test('the rules are rules, each with what is wrong and what to do', () => {
  expect(rules.length).toBeGreaterThanOrEqual(8)
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { alert, expr, labels, annotations, ...rest } of rules) {
    expect(alert).toMatch(/^[A-Z]\w+$/)
    expect([alert, isExpression(expr)]).toEqual([alert, true])
    expect(labels.severity).toMatch(/^(?:warning|critical)$/)
    expect(annotations.summary.length * annotations.action.length, alert).toBeGreaterThan(0)
    expect(rest.for ?? '1m').toMatch(/^\d+[mhd]$/)
  }
})

test('every metric and label of the rules is printed', () => {
  expect(rules.filter(({ expr }) => !expr.startsWith('up')).flatMap(({ expr }) => strangers(expr))).toEqual([])
  const asked = rules.filter(({ expr }) => expr.includes('listing_sync_'))
  expect(asked).toHaveLength(rules.length - 1)
})

interface Panel {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets: { expr: string; legendFormat: string }[]
}

test('the dashboard is one, and every metric and label in it is printed', () => {
  const { title, panels, templating } = JSON.parse(read('grafana-dashboard.json')) as {
    title: string
    panels: Panel[]
    templating: { list: { name: string; definition?: string }[] }
  }
  expect(title).toBe('listing-sync')
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  expect(expressions.length).toBeGreaterThan(panels.length)
  for (const expr of expressions) expect([expr, isExpression(expr)]).toEqual([expr, true])
  expect(expressions.flatMap(strangers)).toEqual([])
  // Panels lie within 24 columns, and on no other.
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  expect(strangers(templating.list.map(({ definition = '' }) => definition).join(' '))).toEqual([])
})

test('what two rules hold is never added up', async () => {
  served.world.deliver(zillowFeed(homes(1, 1)))
  await served.runAgain()
  const { text } = await served.ask('/metrics')
  for (const rule of ['leaving', 'unrecognisable'])
    expect(text).toContain(`listing_sync_held{feed="north",rule="${rule}"} 5`)
  expect(text).toContain('listing_sync_held_changes{feed="north"} 5')
  const asking = [...rules.map(({ expr }) => expr), read('grafana-dashboard.json')].join('\n')
  expect(asking).toMatch(/listing_sync_held\b/)
  expect(asking).not.toMatch(/sum[^\n]*listing_sync_held\b/)
})

test('a feed of which no delivery was ever accepted has no age, and an alert of its own', async () => {
  const empty = await Served.start()
  try {
    await until(() => empty.runs() === 1)
    const { text } = await empty.ask('/metrics')
    const { expr } = rules.find(({ alert }) => alert === 'ListingFeedNeverAccepted')!
    const [some, none] = expr.split(' unless on (instance, feed) ')
    expect(text).toContain(`\n${some}{feed="north",`)
    expect(text).not.toContain(none)
  } finally {
    await empty.end()
  }
})

test('this test sees a metric and a label that are not there', () => {
  expect(strangers('sum(listing_sync_none_such{feed="a"})')).toEqual(['listing_sync_none_such'])
  expect(strangers('listing_sync_held{home="a", feed=~"b"}')).toEqual(['listing_sync_held{home}'])
  expect(['sum(a[5m])', 'sum(a[5m)', 'a}', 'a > > 1', 'sum by a'].map(isExpression)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ])
})
