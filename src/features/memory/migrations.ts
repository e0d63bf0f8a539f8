/**
 * The schema of the memory database. Times are milliseconds since the epoch.
 *
 * `items.seq` begins with the number of the project, and 0 for global items (`seqRange`). A table `item_index_N` for each
 * project holds words, not texts, and only of items that a search may find (`word-index.ts`). `outbox` names what another store does not have yet: written in the transaction of the change itself.
 */
export const MEMORY_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  INSERT INTO meta VALUES ('index', 1);
  CREATE TABLE projects (number INTEGER PRIMARY KEY, root TEXT NOT NULL UNIQUE) STRICT;

  CREATE TABLE items (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('project', 'global')),
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    content TEXT NOT NULL,
    tags TEXT NOT NULL CHECK (json_type(tags) = 'array'),
    outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'mixed')),
    task TEXT NOT NULL,
    context TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('person', 'model', 'tool', 'import')),
    owner TEXT NOT NULL,
    source TEXT NOT NULL,
    provenance TEXT NOT NULL CHECK (json_type(provenance) = 'array'),
    contradicts TEXT NOT NULL CHECK (json_type(contradicts) = 'array'),
    alpha REAL NOT NULL,
    beta REAL NOT NULL,
    uses INTEGER NOT NULL,
    is_quarantined INTEGER NOT NULL,
    digest BLOB NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    used_ms INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX items_digest ON items (digest);

  CREATE VIRTUAL TABLE item_index USING fts5 (
    title, tags, task, description, content, context,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
  );

  CREATE TABLE feedback (
    item TEXT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    outcome TEXT NOT NULL,
    note TEXT NOT NULL,
    request_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (item, session)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    op TEXT NOT NULL CHECK (op IN ('put', 'delete')),
    id TEXT NOT NULL UNIQUE
  ) STRICT;
  `,
  // `sent`: items that the shared store may have, forgotten ones too. `foreign_items`: what others wrote, also if it was
  // forgotten here; the row of `items` is then missing.
  `
  CREATE TABLE sync_state (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE sent (id TEXT PRIMARY KEY, project_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE foreign_items (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    writer TEXT NOT NULL,
    version INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // `vectors` has a row for each item; without an embedding it waits for one, as it does again when its text changes.
  // `vector` is float32 in the order of the machine, of length 1; null: the model takes no such text.
  `
  CREATE TABLE embeddings (
    number INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    revision TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    UNIQUE (model, revision, dimension)
  ) STRICT;
  CREATE TABLE vectors (
    seq INTEGER PRIMARY KEY REFERENCES items (seq) ON DELETE CASCADE ON UPDATE CASCADE,
    embedding INTEGER REFERENCES embeddings (number),
    vector BLOB
  ) STRICT;
  CREATE INDEX vectors_embedding ON vectors (embedding);
  INSERT INTO vectors (seq) SELECT seq FROM items;
  CREATE TRIGGER items_inserted AFTER INSERT ON items BEGIN
    INSERT INTO vectors (seq) VALUES (new.seq);
  END;
  CREATE TRIGGER items_rewritten AFTER UPDATE OF title, description, content ON items
    WHEN old.title <> new.title OR old.description <> new.description OR old.content <> new.content
  BEGIN
    UPDATE vectors SET embedding = NULL, vector = NULL WHERE seq = new.seq;
  END;
  `,
  // What sessions found while `memory.holdout` was set. `outcome`: how the work went; null: it is not known yet.
  `
  CREATE TABLE retrievals (
    seq INTEGER PRIMARY KEY,
    item TEXT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    session TEXT NOT NULL,
    is_held_out INTEGER NOT NULL,
    outcome TEXT CHECK (outcome IN ('success', 'failure', 'mixed')),
    at_ms INTEGER NOT NULL,
    UNIQUE (session, item)
  ) STRICT;
  CREATE INDEX retrievals_item ON retrievals (item);
  `,
  // Distillations of recorded calls that wait; `fault`: why one has failed for good.
  `
  CREATE TABLE pending (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    task TEXT NOT NULL,
    outcome TEXT NOT NULL,
    request_ids TEXT NOT NULL CHECK (json_type(request_ids) = 'array'),
    asked_ms INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    fault TEXT NOT NULL
  ) STRICT;
  `,
  // `replaced_by`: the id of the item that took its place. The index of all projects goes; those of each project are made
  // from the items when the store opens.
  `
  ALTER TABLE items ADD COLUMN replaced_by TEXT NOT NULL DEFAULT '';
  ALTER TABLE items ADD COLUMN is_set_aside INTEGER
    GENERATED ALWAYS AS (is_quarantined <> 0 OR replaced_by <> '') VIRTUAL;
  CREATE INDEX items_replaced ON items (replaced_by) WHERE replaced_by <> '';
  DROP TABLE item_index;
  UPDATE meta SET value = 2 WHERE name = 'index' AND NOT EXISTS (SELECT 1 FROM items);
  `,
  // Lessons made from recorded calls, and how sessions went as the record shows it, without a report. `origin` is then `model`.
  // `reads`: whose content a session has seen. `weight`: 1 for a report.
  `
  ALTER TABLE items ADD COLUMN is_distilled INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE feedback ADD COLUMN weight REAL NOT NULL DEFAULT 1.0;
  ALTER TABLE retrievals ADD COLUMN weak_good REAL NOT NULL DEFAULT 0.0;
  ALTER TABLE retrievals ADD COLUMN weak_count INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE reads (
    session TEXT NOT NULL,
    item TEXT NOT NULL REFERENCES items (id) ON DELETE CASCADE,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (session, item)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reads_item ON reads (item);
  CREATE INDEX reads_age ON reads (at_ms);
  `,
];
