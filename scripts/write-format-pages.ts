// Writes docs/formats/ from the presets and their fixtures. Run: npm run formats
import { writeFormatPages } from '../test/support/format-pages.ts'

writeFormatPages()
