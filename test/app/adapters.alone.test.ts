/** The map of report forms: each keeps the contract, and a new one needs only its file and its line. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { reportForms } from '../../src/app/adapters.ts'
import { diffCommand } from '../../src/commands/diff.ts'
import { printable } from '../../src/core/text.ts'
import { buffer } from '../../src/report/report.ts'
import type { ReportForm } from '../../src/report/report.ts'
import { reportFormContract } from '../contract/report-form.ts'
import { home, zillowFeed } from '../support/homes.ts'
import { RunWorld } from '../support/run-world.ts'

/** A line for each change, and what came of the run: as its file would export it. */
function listForm(): ReportForm {
  return {
    async write(report, output) {
      const buffered = buffer(output)
      for (const { kind, mlsNumber } of report.changes()) await buffered.add(`${kind} ${printable(mlsNumber)}\n`)
      await buffered.add(`${printable(report.feed)}: ${report.result}\n`)
      await buffered.end()
    },
    document: { before: 'begin\n', after: 'end\n' },
    several: { before: '', between: '---\n', after: '' },
  }
}

reportForms.list = async () => listForm
for (const [name, load] of Object.entries(reportForms)) reportFormContract(name, (await load())({ colour: false }))

test('a form of its own, by its line in the map alone, writes the report of a command', async () => {
  const world = await RunWorld.start({ feeds: { north: {}, south: { chatbot: 'SN-2', source: './north.xml' } } })
  try {
    world.deliver(zillowFeed([home(1)]))
    const [number] = /<MlsId>([^<]+)</.exec(zillowFeed([home(1)]))!.slice(1)
    const out = join(world.folder, 'report.list')
    const { context } = world
    expect(await diffCommand(context, [], { format: 'list', out })).toBe(2)
    const each = (feed: string): string => `create ${number}\n${feed}: changes\n`
    expect(readFileSync(out, 'utf8')).toBe(`begin\n${each('north')}---\n${each('south')}end\n`)
  } finally {
    await world.end()
  }
})
