/**
 * The schema of the session database. Times are milliseconds since the epoch. `logs.last_seq` is kept when events are
 * removed, so that no position of a log is used twice.
 */
export const EVENT_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE logs (
    number INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    last_seq INTEGER NOT NULL,
    used_ms INTEGER NOT NULL,
    UNIQUE (project, session)
  ) STRICT;

  CREATE TABLE events (
    log INTEGER NOT NULL REFERENCES logs (number) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    branch TEXT,
    kind TEXT NOT NULL,
    parent INTEGER,
    at_ms INTEGER NOT NULL,
    sensitivity TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    text TEXT NOT NULL,
    facts TEXT NOT NULL CHECK (json_type(facts) = 'object'),
    artifact TEXT,
    PRIMARY KEY (log, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX events_artifact ON events (log, artifact) WHERE artifact IS NOT NULL;
  `,
  // Contexts that were made of a log: enough to make each again and compare it.
  `
  CREATE TABLE builds (
    number INTEGER PRIMARY KEY,
    log INTEGER NOT NULL REFERENCES logs (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    events INTEGER NOT NULL,
    branch TEXT,
    request TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX builds_log ON builds (log, number);
  `,
  `
  CREATE INDEX events_bounds ON events (log, seq) WHERE kind IN ('branch', 'checkpoint', 'undo');
  `,
  // What a call was in its session followed from the name of its tool.
  `
  UPDATE events SET facts = json_set(facts, '$.effect', CASE
    WHEN kind = 'memory' THEN 'memory'
    ELSE CASE json_extract(facts, '$.tool')
      WHEN 'safe_bash' THEN 'command'
      WHEN 'safe_write' THEN 'edit'
      WHEN 'safe_read' THEN 'look'
      WHEN 'tool_view' THEN 'view'
      WHEN 'session_init' THEN 'start'
      WHEN 'return' THEN 'return'
      WHEN 'checkpoint_restore' THEN 'restore'
      WHEN 'branch' THEN 'record'
      WHEN 'jobs' THEN 'record'
      WHEN 'checkpoint_list' THEN 'record'
      WHEN 'checkpoint_save' THEN 'record'
      ELSE 'work'
    END
  END) WHERE kind IN ('call', 'memory');
  `,
];
