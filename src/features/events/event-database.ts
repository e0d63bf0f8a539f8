import type { Logger } from '../../core/log.ts';
import { createDatabase, type Database } from '../../stores/sqlite.ts';
import { EVENT_MIGRATIONS } from './migrations.ts';

/** A file and a thread of its own: neither a call nor the journal ever waits for it. */
export function eventDatabase({ file, logger }: { file: string; logger: Logger }): Database {
  return createDatabase({ file, migrations: EVENT_MIGRATIONS, logger });
}
