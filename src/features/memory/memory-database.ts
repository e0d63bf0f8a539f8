import type { Logger } from '../../core/log.ts';
import { ownProgram } from '../../core/own-program.ts';
import { createDatabase, type Database } from '../../stores/sqlite.ts';
import { MEMORY_MIGRATIONS } from './migrations.ts';

/**
 * A file and a thread of its own: a search never waits for the journal. What was written survives a power loss, and vectors
 * are compared in the thread.
 */
export function memoryDatabase({ file, logger }: { file: string; logger: Logger }): Database {
  const program = ownProgram(new URL('./thread/main.js', import.meta.url));
  return createDatabase({ file, migrations: MEMORY_MIGRATIONS, durable: true, program, logger });
}
