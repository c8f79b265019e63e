/** The store's schema as an ordered list of steps; `user_version` counts the steps done. Never change a released step. */
import type Database from 'better-sqlite3'

/** "LSYN": says that a SQLite file is a store of this program. */
export const applicationId = 0x4c53594e

export const migrations: readonly string[] = [
  /**
   * Keys and hashes lie in a table of their own, sorted as they are read, and the payload in another: a scan of a million
   * rows takes a third of the time so. TEXT compares by UTF-8 bytes, which is the order of `compareKeys`. `payload.id` never
   * comes twice: a plan that holds an old id must not meet a new listing. `feed.first_run` is used no more.
   */
  `
CREATE TABLE meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  lineage TEXT NOT NULL
) STRICT;
INSERT INTO meta VALUES (1, lower(hex(randomblob(16))));

CREATE TABLE payload (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  listing TEXT,
  moving TEXT,
  echo TEXT
) STRICT;

CREATE TABLE listing (
  chatbot TEXT NOT NULL,
  key TEXT NOT NULL,
  id INTEGER NOT NULL REFERENCES payload (id),
  feed TEXT NOT NULL,
  owned INTEGER NOT NULL DEFAULT 0,
  content TEXT,
  raw TEXT,
  parts INTEGER NOT NULL DEFAULT 1,
  mapping TEXT,
  filled INTEGER NOT NULL DEFAULT 0,
  sent_at INTEGER NOT NULL DEFAULT 0,
  baseline TEXT,
  moves_at INTEGER,
  suspect_until INTEGER,
  streak INTEGER NOT NULL DEFAULT 0,
  streak_reason TEXT,
  flight TEXT,
  flight_at INTEGER,
  refused_content TEXT,
  refused_mapping TEXT,
  refused_at INTEGER,
  refused_message TEXT,
  PRIMARY KEY (chatbot, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX listing_by_id ON listing (id);
CREATE INDEX listing_by_raw ON listing (feed, mapping, raw, parts, id) WHERE owned = 1;

CREATE TABLE delete_ledger (
  chatbot TEXT NOT NULL,
  feed TEXT NOT NULL,
  key TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (chatbot, feed, key, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX delete_ledger_by_time ON delete_ledger (at);

CREATE TABLE feed (
  name TEXT PRIMARY KEY,
  first_run INTEGER,
  last_success INTEGER,
  lost_at INTEGER,
  validators TEXT,
  echo_reported TEXT NOT NULL DEFAULT '[]'
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  feed TEXT NOT NULL,
  chatbot TEXT NOT NULL,
  command TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  finished_at INTEGER NOT NULL,
  result TEXT NOT NULL,
  interrupted INTEGER NOT NULL,
  error TEXT,
  figures TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_feed ON run (feed, number);

CREATE TABLE delivery (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  feed TEXT NOT NULL,
  at INTEGER NOT NULL,
  records INTEGER NOT NULL,
  keys BLOB
) STRICT;
CREATE INDEX delivery_by_feed ON delivery (feed, number);

CREATE TABLE held (
  feed TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT,
  why TEXT NOT NULL,
  since INTEGER NOT NULL,
  current INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (feed, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE approval (
  feed TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  approved_by TEXT NOT NULL,
  at INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (feed, kind, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE learnt (
  chatbot TEXT NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (chatbot, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
  chatbot TEXT PRIMARY KEY,
  token INTEGER NOT NULL,
  holder TEXT NOT NULL,
  since INTEGER NOT NULL,
  held INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,

  /** Listings absent from complete deliveries, while `limits.grace` keeps them. */
  `
CREATE TABLE absence (
  feed TEXT NOT NULL,
  chatbot TEXT NOT NULL,
  key TEXT NOT NULL,
  runs INTEGER NOT NULL,
  since INTEGER NOT NULL,
  noted INTEGER NOT NULL,
  PRIMARY KEY (feed, chatbot, key)
) STRICT, WITHOUT ROWID;
`,

  /** An approval that was taken back is no longer open, but stays on record with who took it back and when. */
  `
ALTER TABLE approval ADD COLUMN revoked_by TEXT;
ALTER TABLE approval ADD COLUMN revoked_at INTEGER;
`,

  /** What Edit has confirmed of a chatbot's settings, as JSON: only what differs from it is sent. */
  `
CREATE TABLE setting (
  chatbot TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (chatbot, name)
) STRICT, WITHOUT ROWID;
`,

  /** Starts of a daemon, one after another, none of which stayed up or ended in order. */
  `
CREATE TABLE start (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  times INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
`,

  /** Counts leases and marks: a note beside the store tells whether this is still the latest state of it. */
  `
ALTER TABLE meta ADD COLUMN serial INTEGER NOT NULL DEFAULT 0;
`,

  /** Deliveries that were not doubted, so that one which comes again after another is known for an older one. */
  `
CREATE TABLE generation (
  feed TEXT NOT NULL,
  source TEXT NOT NULL,
  digest TEXT NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  written_by TEXT,
  written_at INTEGER,
  PRIMARY KEY (feed, digest)
) STRICT, WITHOUT ROWID;
`,

  /**
   * The guard counts all that is changed within 24 hours, recognises homes, and keeps a decision with its hold. What it took
   * for a measure before, the sizes and fingerprints of deliveries, goes. `ledger.what` is `Counted`, or 'left'; of `hold`,
   * `part` '' is what can't be approved, and `content` NULL was not noted by the version before.
   */
  `
ALTER TABLE listing DROP COLUMN filled;
ALTER TABLE listing ADD COLUMN home TEXT;
ALTER TABLE listing ADD COLUMN born_at INTEGER;

CREATE TABLE ledger (
  chatbot TEXT NOT NULL,
  feed TEXT NOT NULL,
  key TEXT NOT NULL,
  what TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (chatbot, feed, key, what, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_by_time ON ledger (at);
INSERT INTO ledger SELECT chatbot, feed, key, 'delete', at FROM delete_ledger;
DROP TABLE delete_ledger;

CREATE TABLE hold (
  feed TEXT NOT NULL,
  key TEXT NOT NULL,
  part TEXT NOT NULL,
  content TEXT,
  why TEXT NOT NULL,
  rules TEXT NOT NULL DEFAULT '[]',
  ends TEXT NOT NULL DEFAULT 'confirmed',
  since INTEGER NOT NULL,
  clock INTEGER,
  decision TEXT,
  decided_by TEXT,
  decided_at INTEGER,
  current INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (feed, key, part)
) STRICT, WITHOUT ROWID;
INSERT INTO hold (feed, key, part, why, rules, since, clock, decision, decided_by, decided_at)
  SELECT held.feed, held.key, coalesce(held.kind, ''), why,
    CASE held.kind WHEN 'delete' THEN '["leaving"]' WHEN 'create' THEN '["arriving"]' WHEN 'update' THEN '["facts"]' ELSE '[]' END,
    since, iif(held.kind IS NULL, NULL, since),
    iif(at IS NULL, NULL, 'approved'), approved_by, at
  FROM held LEFT JOIN approval ON approval.feed = held.feed AND approval.key = held.key
    AND approval.kind = held.kind AND used = 0 AND revoked_at IS NULL AND expires > 1000 * unixepoch();
DROP TABLE held;
DROP TABLE approval;

CREATE TABLE hold_event (
  number INTEGER PRIMARY KEY,
  feed TEXT NOT NULL,
  at INTEGER NOT NULL,
  what TEXT NOT NULL,
  holds INTEGER NOT NULL,
  by TEXT
) STRICT;
CREATE INDEX hold_event_by_feed ON hold_event (feed, at);

ALTER TABLE feed ADD COLUMN loaded TEXT;
ALTER TABLE feed ADD COLUMN complete_at INTEGER;
ALTER TABLE feed ADD COLUMN written TEXT;
ALTER TABLE feed ADD COLUMN mapping TEXT;
ALTER TABLE feed ADD COLUMN keyless TEXT NOT NULL DEFAULT '[]';
UPDATE feed SET complete_at = (SELECT max(at) FROM delivery WHERE delivery.feed = feed.name),
  loaded = (SELECT json_object('chatbot', chatbot, 'at', last_success) FROM run
    WHERE run.feed = feed.name AND last_success IS NOT NULL ORDER BY number DESC LIMIT 1);
DROP TABLE delivery;
DROP TABLE generation;
`,

  /**
   * What Create answered; when a call without answer was first looked for in vain; how the last delivery ended; what of
   * a delta is not yet carried out.
   * How the service shows a listing is seen right after it is sent, so that nothing has to be told from edits later.
   */
  `
ALTER TABLE listing DROP COLUMN streak;
ALTER TABLE listing DROP COLUMN streak_reason;
ALTER TABLE listing ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;
ALTER TABLE listing ADD COLUMN put_right_at INTEGER;
ALTER TABLE listing ADD COLUMN ignored INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payload DROP COLUMN echo;
ALTER TABLE feed RENAME COLUMN echo_reported TO forms;
ALTER TABLE listing ADD COLUMN identifier TEXT;
ALTER TABLE listing ADD COLUMN missed_at INTEGER;
ALTER TABLE feed ADD COLUMN last_key TEXT;
ALTER TABLE meta ADD COLUMN place TEXT;

CREATE TABLE writer (
  chatbot TEXT NOT NULL,
  feed TEXT NOT NULL,
  store TEXT NOT NULL,
  run INTEGER NOT NULL,
  since INTEGER NOT NULL,
  looked_at INTEGER NOT NULL,
  wrote_at INTEGER,
  PRIMARY KEY (chatbot, feed, store)
) STRICT, WITHOUT ROWID;

CREATE TABLE pending (
  feed TEXT NOT NULL,
  key TEXT NOT NULL,
  delivered TEXT NOT NULL,
  at INTEGER NOT NULL,
  noted INTEGER NOT NULL,
  PRIMARY KEY (feed, key)
) STRICT, WITHOUT ROWID;
`,

  /**
   * One later mark of another store may only have been hidden by the list before. Keys to the service belong to a feed: those
   * noted for the chatbot may be another feed's. `feed.written` had the
   * address of the source, which may hold a password; now it has a fingerprint.
   */
  `
ALTER TABLE writer ADD COLUMN rose_at INTEGER;
UPDATE writer SET rose_at = wrote_at;

CREATE TABLE keys_used (
  chatbot TEXT NOT NULL,
  feed TEXT NOT NULL,
  keys REAL NOT NULL,
  PRIMARY KEY (chatbot, feed)
) STRICT, WITHOUT ROWID;
DELETE FROM learnt WHERE name = 'keys';

UPDATE feed SET written = NULL;
`,

  /** Live sources: their records as they were received last, and how far each was read. */
  `
CREATE TABLE source (
  feed TEXT NOT NULL PRIMARY KEY,
  progress TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE source_record (
  feed TEXT NOT NULL,
  key TEXT NOT NULL,
  stamp TEXT NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (feed, key)
) STRICT;
`,

  /** Runs under way: one whose process died is found here, and goes among the others with the next lease. */
  `
CREATE TABLE under_way (
  feed TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL,
  chatbot TEXT NOT NULL,
  command TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  process INTEGER NOT NULL,
  host TEXT NOT NULL,
  progress TEXT
) STRICT;
`,

  /** What people were told of a feed, so that a restart tells nothing again. */
  `
ALTER TABLE feed ADD COLUMN told TEXT;
`,

  /** What people are told of: which home is held, as JSON, and the reports of the last runs, as JSON in gzip. */
  `
ALTER TABLE hold ADD COLUMN home TEXT;
CREATE TABLE report (
  run INTEGER PRIMARY KEY,
  feed TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT;
CREATE INDEX report_by_feed ON report (feed, run);
`,

  /** What was done about each home, and what was held of it: the latest 90 days. Home and fields are JSON. */
  `
CREATE TABLE home_event (
  number INTEGER PRIMARY KEY,
  feed TEXT NOT NULL,
  key TEXT NOT NULL,
  at INTEGER NOT NULL,
  what TEXT NOT NULL,
  result TEXT,
  why TEXT NOT NULL,
  error TEXT,
  by_whom TEXT,
  home TEXT,
  fields TEXT
) STRICT;
CREATE INDEX home_event_by_key ON home_event (key, number);
CREATE INDEX home_event_by_time ON home_event (at);
`,

  /** The latest changes of a chatbot's settings that Edit confirmed, each call one row; the changes are JSON. */
  `
CREATE TABLE setting_change (
  number INTEGER PRIMARY KEY,
  chatbot TEXT NOT NULL,
  at INTEGER NOT NULL,
  changes TEXT NOT NULL
) STRICT;
CREATE INDEX setting_change_by_chatbot ON setting_change (chatbot, number);
`,

  /** Listings are packed (`packed.ts`); `listing` is what was not yet, and its index tells at once that nothing is left. */
  `
ALTER TABLE payload ADD COLUMN packed BLOB;
CREATE INDEX payload_as_text ON payload (id) WHERE listing IS NOT NULL;
`,

  /**
   * What of a delta is not yet carried out is packed, too: after a first load it is every listing. What was text stays so until
   * it is carried out. Not WITHOUT ROWID: there a row of a kB has a page to itself.
   */
  `
ALTER TABLE pending RENAME TO pending_before;
CREATE TABLE pending (
  feed TEXT NOT NULL,
  key TEXT NOT NULL,
  at INTEGER NOT NULL,
  noted INTEGER NOT NULL,
  delivered ANY NOT NULL,
  UNIQUE (feed, key)
) STRICT;
INSERT INTO pending (feed, key, at, noted, delivered) SELECT feed, key, at, noted, delivered FROM pending_before;
DROP TABLE pending_before;
`,
]

/** The schema version of an open database, 0 for a new one. */
export function versionOf(database: Database.Database): number {
  return Number(database.pragma('user_version', { simple: true }))
}

/** Does the steps that the database lacks, each in one transaction of its own. */
export function migrate(database: Database.Database, steps: readonly string[]): void {
  for (let version = versionOf(database); version < steps.length; version++)
    database
      .transaction(() => {
        database.exec(steps[version])
        database.pragma(`application_id = ${applicationId}`)
        database.pragma(`user_version = ${version + 1}`)
      })
      .immediate()
}
