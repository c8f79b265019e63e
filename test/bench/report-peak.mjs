// Loaded before a program whose memory is measured: leaves the peak of its resident set, in kB, in a file at its end.
// Plain JavaScript, as what turns TypeScript into it would take memory of its own.
import { writeFileSync } from 'node:fs'

const file = process.env['BENCH_PEAK_FILE']
process.on('exit', () => writeFileSync(file, String(process.resourceUsage().maxRSS)))
