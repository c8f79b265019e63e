/** The same suites with inputs of up to half a megabyte, where what is slow in copying only shows itself as well. */
process.env.GROWTH = 'large'

await import('./converters.test.ts')
await import('./elsewhere.test.ts')
await import('./formats.test.ts')
await import('./presets.test.ts')
