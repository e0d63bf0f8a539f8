import { addVectorFunctions } from '#src/features/memory/dense/vector-functions.js';
import { MEMORY_MIGRATIONS } from '#src/features/memory/migrations.js';
import type { Database } from '#src/stores/sqlite.js';
import { createTestDatabase } from './test-database.ts';

/** The database of memories, served in the thread of the test, with its functions of vectors. */
export function createTestMemoryDatabase({ file }: { file: string }): Database {
  return createTestDatabase({ file, migrations: MEMORY_MIGRATIONS, extend: addVectorFunctions });
}
