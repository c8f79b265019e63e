/**
 * The workspace's tables. What is walked in order lies in tables sorted by key without payload; listings and items, a
 * hundred times as large, are fetched by number (performance.md, "Snapshot of 1,000,000 rows").
 */
export const schema = `
CREATE TABLE delivered (
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  at TEXT NOT NULL,
  kind TEXT NOT NULL,
  why TEXT,
  content TEXT,
  raw TEXT,
  parts INTEGER NOT NULL,
  filled INTEGER NOT NULL,
  moves_at INTEGER,
  PRIMARY KEY (key, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE delivered_listing (
  position INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  listing TEXT NOT NULL,
  moving TEXT NOT NULL
) STRICT;
CREATE TABLE reject (
  position INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  key TEXT,
  problems TEXT NOT NULL
) STRICT;
CREATE TABLE shown (
  key TEXT NOT NULL,
  number INTEGER NOT NULL,
  hash TEXT NOT NULL,
  owner TEXT,
  PRIMARY KEY (key, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE shown_item (
  number INTEGER PRIMARY KEY,
  item TEXT NOT NULL
) STRICT;
CREATE TABLE change (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  change TEXT NOT NULL,
  result TEXT,
  error TEXT
) STRICT;
CREATE INDEX change_by_kind ON change (kind, seq);
CREATE TABLE bookkeeping (
  number INTEGER PRIMARY KEY,
  entry TEXT NOT NULL
) STRICT;
`
