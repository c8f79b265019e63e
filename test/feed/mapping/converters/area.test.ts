import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createMapping } from '../../../../src/feed/mapping/create-mapping.ts'
import { loadPreset } from '../../../../src/feed/mapping/load-preset.ts'

test('a long word where an area should be is refused at once', () => {
  const mapping = createMapping(loadPreset(readFileSync('config/presets/zillow.yaml', 'utf8'), 'zillow.yaml'), {})
  const moment = { now: Date.parse('2026-11-21'), today: '2026-11-21', timezone: 'UTC' }
  for (const hostile of ['a'.repeat(80) + '!', `${'ab '.repeat(200)}!`, 'a'.repeat(100_000) + '!']) {
    const record = { ListingDetails: { MlsId: 'A', Status: 'Active' }, BasicDetails: { LotSize: hostile } }
    const [delivered] = mapping.normalise(record, 'record 1', moment)
    expect(delivered).toMatchObject({ kind: 'reject', mlsNumber: 'A' })
    const problems = delivered.kind === 'reject' ? delivered.problems : []
    expect(problems.map(({ field }) => field)).toContain('LotArea')
  }
})
