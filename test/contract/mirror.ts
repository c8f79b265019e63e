/** What every keeper of a live source's records must do: the store of a run that writes, and the memory of one that may not. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compareKeys } from '../../src/core/listing.ts'
import type { KeptRecord, SourceProgress } from '../../src/core/records.ts'
import type { Mirror } from '../../src/feed/api/mirror.ts'
import { Gone, WholeWalk } from '../../src/feed/api/proof.ts'
import { pick, seeded, testSeed } from '../support/random.ts'

export function progressOf(watermark: string | null): SourceProgress {
  return { scope: 'scope', since: 1, watermark, loadedAt: null, readAt: 2, walkedAt: null, acceptedAt: null }
}

export function keptOf(key: string, stamp = '2026-11-01T00:00:00.1234567Z'): KeptRecord {
  return { key, stamp, body: Buffer.from(`\0body of ${key} at ${stamp}\xff`, 'latin1') }
}

/** The proofs that these keys are gone. */
export function goneOf(keys: readonly string[]): Gone[] {
  const walk = { keys: new Map<string, string>(), doubled: 0 }
  const whole = WholeWalk.of({ walks: [walk], counts: { before: 0, after: 0 }, changed: null })
  if (!WholeWalk.isOne(whole)) throw new Error(whole.why)
  return keys.flatMap((key) => Gone.of(whole, key, { asked: 'not there', changed: new Set() }) ?? [])
}

/** `open`: one that holds the given records, and nothing of others. */
export function mirrorContract(
  name: string,
  open: (
    held: readonly KeptRecord[],
    progress: SourceProgress | null,
  ) => Promise<{ mirror: Mirror; close: () => Promise<unknown> }>,
): void {
  describe(`contract of a live source's records: ${name}`, () => {
    let mirror: Mirror
    let close = async (): Promise<unknown> => undefined
    const start = async (keys: readonly string[] = [], progress: SourceProgress | null = null): Promise<void> => {
      ;({ mirror, close } = await open(
        keys.map((key) => keptOf(key)),
        progress,
      ))
    }
    beforeEach(() => start())
    afterEach(() => close())

    const all = async (): Promise<KeptRecord[]> => {
      const rows: KeptRecord[] = []
      for await (const page of mirror.rows()) rows.push(...page)
      return rows
    }
    const keys = async (): Promise<string[]> => (await all()).map(({ key }) => key)

    it('knows nothing at first', async () => {
      expect(await mirror.progress()).toBeNull()
      expect(await keys()).toEqual([])
      expect(await mirror.stamps(['a'])).toEqual(new Map())
    })

    it('gives back what it keeps, byte by byte, and the progress of the last write', async () => {
      await mirror.begin(progressOf(null))
      await mirror.keep([keptOf('b'), keptOf('a')], progressOf('1'))
      expect(await mirror.progress()).toEqual(progressOf('1'))
      expect((await all()).map(({ key, stamp, body }) => ({ key, stamp, body: Buffer.from(body) }))).toEqual([
        keptOf('a'),
        keptOf('b'),
      ])
      expect(await mirror.stamps(['a', 'c'])).toEqual(new Map([['a', keptOf('a').stamp]]))
      await mirror.keep([], progressOf('2'))
      expect(await mirror.progress()).toEqual(progressOf('2'))
      expect(await keys()).toEqual(['a', 'b'])
    })

    it('keeps one record a key, the last one, also within one page', async () => {
      await mirror.keep([keptOf('a', '1'), keptOf('a', '2')], progressOf(null))
      expect(await all()).toMatchObject([{ key: 'a', stamp: '2' }])
      await mirror.keep([keptOf('a', '0')], progressOf(null))
      expect(await all()).toMatchObject([{ key: 'a', stamp: '0' }])
    })

    it('drops by proof, and forgets all at a new beginning', async () => {
      await close()
      await start(['a', 'b', 'c'], progressOf('0'))
      await mirror.drop(goneOf(['b', 'never there']), progressOf('1'))
      expect(await keys()).toEqual(['a', 'c'])
      expect(await mirror.stamps(['a', 'b'])).toEqual(new Map([['a', keptOf('a').stamp]]))
      await mirror.keep([keptOf('b', '9')], progressOf('2'))
      expect(await keys()).toEqual(['a', 'b', 'c'])
      await mirror.begin(progressOf(null))
      expect(await keys()).toEqual([])
      expect(await mirror.stamps(['a'])).toEqual(new Map())
      expect(await mirror.progress()).toEqual(progressOf(null))
    })

    it('takes keys as they are: case, quotes, signs beyond ASCII, thousands of them, in the order of keys', async () => {
      const odd = ['A', 'a', "o'Neil", '"', '%', '_', 'é', 'ÿ', '漢', '😀', ' ', '0', '00', 'ACT1', 'ACT10', 'ACT2']
      const many = Array.from({ length: 2500 }, (_, i) => `m${i}`)
      await close()
      await start(many.filter((_, i) => i % 2 === 0))
      await mirror.keep(
        [...odd, ...many.filter((_, i) => i % 3 === 0)].map((key) => keptOf(key)),
        progressOf(null),
      )
      const expected = [...new Set([...odd, ...many.filter((_, i) => i % 2 === 0 || i % 3 === 0)])]
      expect(await keys()).toEqual(expected.toSorted(compareKeys))
    })

    it('is what a map would be, whatever is written', async () => {
      const random = seeded(testSeed())
      const names = ['a', 'B', 'b', 'c1', 'c10', 'c2', 'd', 'é', '漢', '😀']
      for (let history = 0; history < 20; history++) {
        const held = names.filter(() => random() < 0.5)
        await close()
        await start(held, progressOf('0'))
        const model = new Map(held.map((key) => [key, keptOf(key).stamp]))
        for (let step = 0; step < 12; step++) {
          const some = names.filter(() => random() < 0.4)
          const kind = pick(random, ['keep', 'keep', 'drop', 'drop', 'begin'])
          if (kind === 'keep') {
            await mirror.keep(
              some.map((key) => keptOf(key, `${history}.${step}`)),
              progressOf(`${step}`),
            )
            for (const key of some) model.set(key, `${history}.${step}`)
          } else if (kind === 'drop') {
            await mirror.drop(goneOf(some), progressOf(`${step}`))
            for (const key of some) model.delete(key)
          } else if (random() < 0.3) {
            await mirror.begin(progressOf(`${step}`))
            model.clear()
          } else continue
          expect((await mirror.progress())?.watermark).toBe(`${step}`)
          expect((await all()).map(({ key, stamp }) => [key, stamp])).toEqual(
            [...model].toSorted(([a], [b]) => compareKeys(a, b)),
          )
          expect(await mirror.stamps(names)).toEqual(model)
        }
      }
    })
  })
}
