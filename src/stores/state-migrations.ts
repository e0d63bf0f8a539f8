/**
 * The schema of the state database (`DatabaseFile.migrations`): one list. Add an entry at its end and change none: each was
 * carried out in databases of earlier versions. Times are milliseconds since the epoch.
 */
export const STATE_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE projects (root TEXT PRIMARY KEY, registered_ms INTEGER NOT NULL) STRICT;
  CREATE TABLE project_tools (
    root TEXT NOT NULL REFERENCES projects (root) ON DELETE CASCADE,
    name TEXT NOT NULL,
    bundle_sha256 TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('core', 'installed')),
    grants TEXT NOT NULL,
    PRIMARY KEY (root, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE sessions (
    tag BLOB PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    next_secret INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE calls (
    request_id TEXT PRIMARY KEY,
    tool TEXT NOT NULL,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    finished_ms INTEGER,
    error_code TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX calls_open ON calls (started_ms) WHERE finished_ms IS NULL;
  CREATE INDEX calls_finished ON calls (finished_ms, error_code) WHERE finished_ms IS NOT NULL;

  CREATE TABLE contents (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    in_file INTEGER NOT NULL,
    used_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX contents_used ON contents (used_ms);
  CREATE INDEX contents_in_file ON contents (id) WHERE in_file = 1;
  CREATE TABLE bodies (
    content INTEGER PRIMARY KEY REFERENCES contents (id) ON DELETE CASCADE,
    body BLOB NOT NULL
  ) STRICT;

  CREATE TABLE artifacts (
    id TEXT PRIMARY KEY,
    session BLOB NOT NULL,
    content INTEGER NOT NULL REFERENCES contents (id),
    request_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    parts TEXT NOT NULL,
    dropped_bytes INTEGER NOT NULL,
    created_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX artifacts_content ON artifacts (content);
  CREATE INDEX artifacts_created ON artifacts (created_ms);
  CREATE TABLE tombstones (
    id TEXT PRIMARY KEY,
    session BLOB NOT NULL,
    expired_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE artifacts ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE rule_approvals (
    root TEXT PRIMARY KEY REFERENCES projects (root) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    approved_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE artifacts ADD COLUMN command BLOB;
  CREATE INDEX artifacts_command ON artifacts (session, command, created_ms) WHERE command IS NOT NULL;
  `,
  // The subjects are those of consents.ts. A grant in a damaged list is not carried over: it is never guessed.
  `
  CREATE TABLE consents (
    scope TEXT NOT NULL REFERENCES projects (root) ON DELETE CASCADE,
    subject TEXT NOT NULL,
    hash TEXT NOT NULL,
    given_ms INTEGER NOT NULL,
    PRIMARY KEY (scope, subject)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO consents SELECT root, 'rules', sha256, approved_ms FROM rule_approvals;
  INSERT INTO consents
    SELECT tool.root, 'tool:' || origin || ':' || name, bundle_sha256, registered_ms
    FROM project_tools AS tool JOIN projects ON projects.root = tool.root;
  INSERT OR IGNORE INTO consents
    SELECT tool.root, 'grant:' || name || ':' || entry.value, bundle_sha256, registered_ms
    FROM project_tools AS tool JOIN projects ON projects.root = tool.root,
      json_each(iif(json_valid(grants), iif(json_type(grants) = 'array', grants, '[]'), '[]')) AS entry
    WHERE entry.type = 'text';
  DROP TABLE rule_approvals;
  DROP TABLE project_tools;
  `, // Sessions that have not ended. The current one of a project takes the calls that name no session.
  `
  CREATE TABLE live_sessions (
    project TEXT NOT NULL REFERENCES projects (root) ON DELETE CASCADE,
    session TEXT NOT NULL,
    is_current INTEGER NOT NULL,
    used_ms INTEGER NOT NULL,
    last_job INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project, session)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE toolchains (
    name TEXT PRIMARY KEY,
    mounts TEXT NOT NULL,
    variables TEXT NOT NULL,
    allowed_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE host_path (path TEXT NOT NULL) STRICT;
  `,
  `
  CREATE TABLE continuation_counters (session BLOB PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE continuations (
    session BLOB NOT NULL,
    number INTEGER NOT NULL,
    cursor TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    PRIMARY KEY (session, number)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX continuations_made ON continuations (made_ms);
  `,
  // Who may reach what. The scope '' is the machine; "source" is the group that a rule came from, or ''.
  `
  CREATE TABLE network_rules (
    scope TEXT NOT NULL,
    pattern TEXT NOT NULL,
    source TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('allow', 'deny')),
    private TEXT NOT NULL,
    once INTEGER NOT NULL,
    expires_ms INTEGER,
    given_ms INTEGER NOT NULL,
    given_by TEXT NOT NULL,
    PRIMARY KEY (scope, pattern, source)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE network_modes (project TEXT PRIMARY KEY, is_on INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE network_log (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    project TEXT NOT NULL,
    tool TEXT NOT NULL,
    session TEXT NOT NULL,
    request_id TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    via TEXT NOT NULL,
    is_allowed INTEGER NOT NULL,
    rule TEXT NOT NULL,
    why TEXT NOT NULL,
    up INTEGER NOT NULL,
    down INTEGER NOT NULL,
    duration_ms INTEGER,
    repeats INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX network_log_project ON network_log (project, id);
  `,
  `
  CREATE TABLE host_network (settings TEXT NOT NULL, allowed_ms INTEGER NOT NULL) STRICT;
  `,
  // Secrets that the proxy adds to requests. The scope '' is the machine; lists are JSON.
  `
  CREATE TABLE network_credentials (
    scope TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    paths TEXT NOT NULL,
    header TEXT NOT NULL,
    scheme TEXT NOT NULL,
    user TEXT NOT NULL,
    secret TEXT NOT NULL,
    source TEXT NOT NULL,
    methods TEXT NOT NULL,
    placeholders TEXT NOT NULL,
    refresh_ms INTEGER NOT NULL,
    read_ms INTEGER NOT NULL,
    given_by TEXT NOT NULL,
    PRIMARY KEY (scope, host, port, paths)
  ) STRICT, WITHOUT ROWID;
  `,
  // A permission and a denial of the same name can both be there.
  `
  ALTER TABLE network_rules RENAME TO network_rules_before;
  CREATE TABLE network_rules (
    scope TEXT NOT NULL,
    pattern TEXT NOT NULL,
    source TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('allow', 'deny')),
    private TEXT NOT NULL,
    once INTEGER NOT NULL,
    expires_ms INTEGER,
    given_ms INTEGER NOT NULL,
    given_by TEXT NOT NULL,
    PRIMARY KEY (scope, pattern, source, verdict)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO network_rules (scope, pattern, source, verdict, private, once, expires_ms, given_ms, given_by)
    SELECT scope, pattern, source, verdict, private, once, expires_ms, given_ms, given_by FROM network_rules_before;
  DROP TABLE network_rules_before;
  `,
  // Values that a person declared no secret: HMACs of the value and of its derived forms, one after another, and no value.
  // The scope '' is the machine.
  `
  CREATE TABLE allowed_values (
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    forms TEXT NOT NULL,
    rule TEXT NOT NULL,
    given_ms INTEGER NOT NULL,
    given_by TEXT NOT NULL,
    PRIMARY KEY (scope, id)
  ) STRICT, WITHOUT ROWID;
  `,
  // Versions of installed tools that projects accepted: where they came from, and what a rollback returns to.
  `
  CREATE TABLE tool_versions (
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    accepted_ms INTEGER NOT NULL,
    bundle_sha256 TEXT NOT NULL,
    source TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    archive_sha256 TEXT NOT NULL,
    signer TEXT NOT NULL,
    grants TEXT NOT NULL,
    PRIMARY KEY (project, name, accepted_ms)
  ) STRICT, WITHOUT ROWID;
  `,
  // Branches of sessions and what their calls cost. `parent` is '' for a branch of the base, `closed_by` for an open one.
  `
  CREATE TABLE branches (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    parent TEXT NOT NULL,
    description TEXT NOT NULL,
    brief TEXT NOT NULL,
    budget_tokens INTEGER NOT NULL,
    timeout_ms INTEGER NOT NULL,
    opened_ms INTEGER NOT NULL,
    closed_ms INTEGER,
    closed_by TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX branches_of_session ON branches (project, session, opened_ms);
  CREATE TABLE branch_calls (
    branch TEXT NOT NULL,
    request_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (branch, request_id)
  ) STRICT, WITHOUT ROWID;
  `,
  // Checkpoints of sessions. `body` is JSON of `format`, and `sha256` covers it, the name, the time and the position. An
  // artifact with a pin is not pruned.
  `
  CREATE TABLE checkpoints (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    branch TEXT,
    name TEXT NOT NULL,
    cause TEXT NOT NULL,
    position INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    summary TEXT NOT NULL,
    format INTEGER NOT NULL,
    body TEXT NOT NULL,
    sha256 TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX checkpoints_session ON checkpoints (project, session);
  CREATE TABLE checkpoint_pins (
    checkpoint TEXT NOT NULL,
    artifact TEXT NOT NULL,
    PRIMARY KEY (artifact, checkpoint)
  ) STRICT, WITHOUT ROWID;
  `,
  // Whether a branch has files of its own. `files_state` is '' for one that has not; `base_tree` is the list of the files of
  // the project when it was opened, in the undo store; `resolutions` is JSON, written before a merge writes.
  `
  ALTER TABLE branches ADD COLUMN files TEXT NOT NULL DEFAULT 'shared';
  ALTER TABLE branches ADD COLUMN files_state TEXT NOT NULL DEFAULT '';
  ALTER TABLE branches ADD COLUMN base_tree TEXT NOT NULL DEFAULT '';
  ALTER TABLE branches ADD COLUMN resolutions TEXT NOT NULL DEFAULT '';
  `,
  // The hash of each setting, as JSON, that the audit log has last. Without a row, its default is on record.
  `
  CREATE TABLE recorded_settings (
    key TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  // Tokens of the HTTP door, by their hashes. The scope '' is the machine; `permissions` are separated by blanks.
  `
  CREATE TABLE http_tokens (
    name TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL,
    scope TEXT NOT NULL,
    permissions TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    expires_ms INTEGER
  ) STRICT, WITHOUT ROWID;
  `,
  // Rules of a person that ask before a call runs; `scope` is '' for every project, `pattern` for any input. An answer for a
  // time is a consent that ends.
  `
  CREATE TABLE approval_rules (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    tool TEXT NOT NULL,
    pattern TEXT NOT NULL,
    reason TEXT NOT NULL,
    given_ms INTEGER NOT NULL,
    given_by TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE consents ADD COLUMN expires_ms INTEGER;
  `,
  // Tools that were executed after a search: `words` are the stems of the scrubbed query, separated by blanks.
  `
  CREATE TABLE tool_choices (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    words TEXT NOT NULL,
    tool TEXT NOT NULL
  ) STRICT;
  CREATE INDEX tool_choices_project ON tool_choices (project);
  `,
  // MCP servers of projects: what a person added, the values of the variables that the server gets, and the definitions of its
  // tools as a person accepted them and as the server listed them last; all JSON. `accepted` is '' before the first list.
  `
  CREATE TABLE upstream_servers (
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    variables TEXT NOT NULL,
    added_ms INTEGER NOT NULL,
    given_by TEXT NOT NULL,
    accepted TEXT NOT NULL DEFAULT '',
    seen TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (project, name)
  ) STRICT, WITHOUT ROWID;
  `,
  // The numbers that secrets had in sessions, by HMACs of the values with a key of the session, and no value.
  `
  CREATE TABLE secret_numbers (
    project TEXT NOT NULL,
    tag BLOB NOT NULL,
    hash BLOB NOT NULL,
    number INTEGER NOT NULL,
    given_ms INTEGER NOT NULL,
    PRIMARY KEY (tag, hash)
  ) STRICT, WITHOUT ROWID;
  `,
  // Who made a call and with which payload, as a tag, and the newest answers, sealed: see src/stores/call-seals.ts.
  `
  ALTER TABLE calls ADD COLUMN tag TEXT NOT NULL DEFAULT '';
  CREATE TABLE call_answers (
    number INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL UNIQUE,
    sealed TEXT NOT NULL
  ) STRICT;
  `,
  // Background jobs that began and have not ended: after a crash their sessions see once that they were interrupted. `command` is scrubbed.
  `
  CREATE TABLE open_jobs (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    branch TEXT NOT NULL,
    number INTEGER NOT NULL,
    command TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    artifact TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX open_jobs_session ON open_jobs (project, session);
  `,
  // Whether their session has listed them after a crash. They can be shown from then on too.
  `
  ALTER TABLE open_jobs ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0;
  `,
];
