/** What the build makes of the presets, so that no start has to read and check them. */
import { expect, test } from 'vitest'
import { presetsToBuild, shippedPresets } from '../../src/config/presets.ts'
import { createMapping } from '../../src/feed/mapping/create-mapping.ts'
import type { Preset } from '../../src/feed/mapping/preset.ts'

const built = [...presetsToBuild()]
const presets = shippedPresets()

test('every preset is there but those that extend another', () => {
  const extending = ['reso-json', 'trulia-flat']
  const names = presets.map(({ name }) => name)
  expect(built.map(([file]) => file).toSorted()).toEqual(
    names
      .filter((name) => !extending.includes(name))
      .map((name) => `${name}.yaml.json`)
      .toSorted(),
  )
})

test.each(built)(
  '%s is after its way through a file what the preset is: the same keys, the same version',
  (file, made) => {
    const read = { ...(JSON.parse(JSON.stringify(made)) as { preset: Omit<Preset, 'file'> }).preset, file: '' }
    const shipped = presets.find(({ name }) => `${name}.yaml.json` === file)!
    expect(read).toEqual({ ...shipped, file: '' })
    expect(createMapping(read, {}, '', undefined, true).version).toBe(createMapping(shipped, {}).version)
  },
)
