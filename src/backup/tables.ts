import { EVENT_MIGRATIONS } from '../features/events/migrations.ts';
import { MEMORY_MIGRATIONS } from '../features/memory/migrations.ts';
import { STATE_MIGRATIONS } from '../stores/state-migrations.ts';

/**
 * What becomes of the rows of a table.
 * `moves`: they go as they are. `tagged`: they go, and their codes of the daemon key are made again (tags.ts).
 * `stays`: they hold secrets, tokens or codes of the daemon key, and are left out.
 * `machine`: the same, because they are about one machine; a state that has nothing else counts as empty.
 */
export type Fate = 'moves' | 'tagged' | 'stays' | 'machine';

export interface BackedUpDatabase {
  /** Its name in a backup. */
  readonly entry: 'contextd.db' | 'memory.db' | 'sessions.db';
  readonly migrations: readonly string[];
  /** Every table, by name. Tables that a feature makes at run time are in `rebuilt`. */
  readonly tables: Readonly<Record<string, Fate>>;
  /** GLOB of tables that hold nothing that is not elsewhere, and are made again from it. */
  readonly rebuilt: string | null;
  /** Tables whose rows make the database not empty. */
  readonly content: readonly string[];
}

const STATE_TABLES = {
  meta: 'machine',
  recorded_settings: 'machine',
  toolchains: 'machine',
  host_path: 'machine',
  host_network: 'machine',
  projects: 'moves',
  consents: 'moves',
  live_sessions: 'moves',
  network_rules: 'moves',
  network_modes: 'moves',
  network_log: 'moves',
  tool_versions: 'moves',
  tool_choices: 'moves',
  approval_rules: 'moves',
  branches: 'moves',
  branch_calls: 'moves',
  checkpoints: 'moves',
  checkpoint_pins: 'moves',
  // Without the values of their variables.
  upstream_servers: 'tagged',
  sessions: 'tagged',
  artifacts: 'tagged',
  tombstones: 'tagged',
  contents: 'tagged',
  bodies: 'moves',
  // Values of secrets, and what lets a program in.
  network_credentials: 'stays',
  http_tokens: 'stays',
  // Codes of values that are not kept: they cannot be made again with another key.
  allowed_values: 'stays',
  secret_numbers: 'stays',
  continuations: 'stays',
  continuation_counters: 'stays',
  // Only a caller of the daemon that ran the call asks for it.
  calls: 'stays',
  call_answers: 'stays',
  open_jobs: 'stays',
} as const satisfies Record<string, Fate>;

export const BACKED_UP: readonly BackedUpDatabase[] = [
  {
    entry: 'contextd.db',
    migrations: STATE_MIGRATIONS,
    tables: STATE_TABLES,
    rebuilt: null,
    content: Object.entries(STATE_TABLES).flatMap(([name, fate]) => (fate === 'machine' ? [] : [name])),
  },
  {
    entry: 'memory.db',
    migrations: MEMORY_MIGRATIONS,
    tables: {
      // Says which index of words there is: without it the index is built again.
      meta: 'machine',
      projects: 'moves',
      items: 'moves',
      feedback: 'moves',
      outbox: 'moves',
      sync_state: 'moves',
      sent: 'moves',
      foreign_items: 'moves',
      embeddings: 'moves',
      vectors: 'moves',
      retrievals: 'moves',
      pending: 'moves',
      reads: 'moves',
    },
    rebuilt: 'item_index_[0-9]*',
    content: ['items'],
  },
  {
    entry: 'sessions.db',
    migrations: EVENT_MIGRATIONS,
    tables: { logs: 'moves', events: 'moves', builds: 'moves' },
    rebuilt: null,
    content: ['logs'],
  },
];

/** The tables whose rows are left out, also of a backup that has some. */
export function leftOut({ tables }: BackedUpDatabase): string[] {
  return Object.entries(tables).flatMap(([name, fate]) => (fate === 'stays' || fate === 'machine' ? [name] : []));
}
