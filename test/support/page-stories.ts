/** What each command of the pages ends with, page by page. A command that is not here fails test/pages.test.ts. */
import type { Place, Story } from './document-pages.ts'

/** The configuration that the pages speak of, with a feed of the demo, and nothing on the service yet. */
function north(place: Place, source = 'first'): void {
  place.copy(`fixtures/demo/${source}.xml`, 'export.xml')
  place.write(
    'config/listing-sync.yaml',
    `service:
  baseUrl: https://listings.example.com
  secretKey: any
store: ./listing-sync.db
feeds:
  north: { chatbot: SN-1001, source: ../export.xml, preset: zillow, schedule: '*/30 * * * *' }
`,
  )
}

/** The same, and the first delivery is on the service. */
async function northLoaded(place: Place): Promise<void> {
  north(place)
  await place.quietly('listing-sync backfill')
}

export const stories: Record<string, Story> = {
  'README.md': {
    commands: {
      'npm ci && npm run demo': 0,
      'listing-sync inspect --init https://mls.example.com/export.xml.gz': 0,
      'listing-sync check': 1,
      'listing-sync diff': 2,
      'listing-sync backfill': 0,
      'listing-sync sync': 0,
      'listing-sync daemon': 'stopped',
      'listing-sync status': 0,
    },
  },
  'docs/getting-started.md': {
    commands: {
      'listing-sync stand-in': 'stopped',
      'listing-sync inspect --init first.xml': 0,
      "sed 's/zillow/zilow/; s/rate:/rates:/' listing-sync.yaml > wrong.yaml": 0,
      'listing-sync --config wrong.yaml diff': 78,
      'cp first.xml export.xml': 0,
      'listing-sync check': 0,
      'listing-sync diff': 2,
      'listing-sync backfill': 0,
      'listing-sync status': 0,
      'cp second.xml export.xml': 0,
      'listing-sync sync': 4,
      'listing-sync daemon': 'stopped',
    },
  },
  'docs/sources.md': { prepare: north, commands: { 'listing-sync sync < export.xml': 0 } },
  'docs/feeds.md': { commands: { 'listing-sync inspect fixtures/presets/zillow/feed.xml': 4 } },
  'docs/commands.md': { prepare: north, commands: { 'npm run -s listing-sync -- diff north': 2 } },
  'docs/reports.md': {
    async prepare(place) {
      await northLoaded(place)
      place.copy('fixtures/demo/second.xml', 'export.xml')
    },
    commands: {
      'listing-sync diff': 2,
      'listing-sync diff north --format json --out diff.json': 2,
      'listing-sync diff --format markdown --out diff.markdown': 2,
      'listing-sync diff --format html --out diff.html': 2,
      'listing-sync runs north --run 1': 0,
      'listing-sync runs north --run 1 --format html --out run.html': 0,
      'listing-sync diff north --format json | node -p \'JSON.parse(require("fs").readFileSync(0)).counts\'': 0,
    },
  },
  'docs/deploy.md': { prepare: north, commands: { 'listing-sync backfill north': 0 } },
  'docs/monitoring.md': {
    async prepare(place) {
      await northLoaded(place)
      place.copy('fixtures/demo/second.xml', 'export.xml')
      await place.quietly('listing-sync sync', 4)
      // Without the rejected record.
      place.edit('export.xml', (text) =>
        text.replace(/<Listing>(?:(?!<\/Listing>)[^])*IA20000226[^]*?<\/Listing>\s*/, ''),
      )
      await place.quietly('listing-sync sync')
    },
    // No daemon runs.
    commands: { 'listing-sync status': 0, 'listing-sync status --health': 1, 'listing-sync status --ready': 1 },
  },
  'docs/chatbot.md': {
    prepare: northLoaded,
    commands: {
      "listing-sync ask --feed north --session 4711 'What is for sale in Cedar Falls under 180000?'": 0,
      'listing-sync settings --feed north --file chatbot.yaml --dry-run': 0,
      'listing-sync settings --feed north --file chatbot.yaml': 0,
      'listing-sync export --feed north --out backups/north': 0,
      'listing-sync backfill --feed north --from backups/north': 0,
      'listing-sync verify --feed north --session 4711 IA20000154 IA20000003': 0,
      'listing-sync evaluate --feed north --session 4711 questions.yaml --sample 2 --tries 2 --transcript answers.jsonl': 0,
    },
  },
  'docs/runbook.md': {
    prepare: northLoaded,
    commands: {
      'listing-sync status north': 0,
      'listing-sync diff north': 0,
      'listing-sync inspect north': 0,
      'listing-sync repair north': 0,
    },
  },
  'docs/holds.md': {
    async prepare(place) {
      await northLoaded(place)
      place.edit('export.xml', (text) => {
        const [start, ...listings] = text.split(/(?=<Listing>)/)
        return start + listings.slice(60).join('')
      })
    },
    commands: {
      'listing-sync sync': 3,
      'listing-sync approve north --yes': 0,
      'listing-sync approve north --refuse --yes': 0,
      'listing-sync approve north --revoke': 0,
    },
  },
  'docs/stand-in.md': {
    commands: {
      'listing-sync stand-in --port 8080 --data stand-in.jsonl': 'stopped',
      'listing-sync stand-in --port 8080 --settings stand-in.yaml': 'stopped',
      'npm run -s listing-sync -- stand-in': 'stopped',
      'npm run -s listing-sync -- --config chat.yaml sync': 0,
      'npm run -s listing-sync -- --config chat.yaml ask --feed cedar --session 1': 0,
    },
  },
  'docs/library.md': { commands: {} },
  'docs/service.md': { prepare: northLoaded, commands: { 'listing-sync probe --feed north --yes': 0 } },
}
