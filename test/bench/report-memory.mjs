// Loaded before a daemon whose memory is measured: at SIGUSR2 collects the garbage, and leaves in a file what is in use, in bytes.
// Plain JavaScript, as what turns TypeScript into it would take memory of its own.
import { writeFileSync } from 'node:fs'

const file = process.env['BENCH_MEMORY_FILE']
process.on('SIGUSR2', () => {
  for (let round = 0; round < 3; round++) globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  writeFileSync(file, String(heapUsed + external))
})
