/** What a vendor lets one set of credentials ask for, whichever of its roots are read with them. */
import { expect, test } from 'vitest'
import { createGates } from '../../src/app/gates.ts'
import { Api } from '../../src/feed/api/query.ts'
import type { ResoSettings } from '../../src/feed/api/settings.ts'
import { addHomes, startReso } from '../../src/stand-in/reso/server.ts'
import { Time } from '../feed/api/world.ts'

test('feeds with the same credentials share their limits, of two roots, too', async () => {
  const time = new Time()
  const token = 'the-token-of-both-feeds-6120'
  const reso = await startReso({ vendor: 'mlsgrid', token, now: () => time.now() })
  const gates = createGates(time, { learn: () => undefined })
  try {
    addHomes(reso.world, 3)
    const filter = "OriginatingSystemName eq 'actris'"
    const settings = (root: string): ResoSettings => ({
      reso: root,
      vendor: 'mlsgrid',
      auth: { token },
      filter,
      keys: 86_400_000,
    })
    const apis = [reso.root, `${reso.root}/`].map(
      (root) => new Api(settings(root), gates.of(settings(root)), new AbortController().signal),
    )
    expect(apis[0].gate).not.toBe(apis[1].gate)
    for (let n = 0; n < 6; n++) await apis[n % 2].ask(apis[n % 2].url({ filter: [], what: 'keys' }))
    expect(reso.world.times).toHaveLength(6)
    expect(reso.world.refused).toBe(0)
  } finally {
    await gates.close()
    await reso.close()
  }
})
