import { MessageChannel } from 'node:worker_threads';
import { silentLogger } from '#src/core/log.js';
import { serveDatabase } from '#src/stores/serve-database.js';
import { createDatabase, type Database, type DatabaseConnection, type DatabaseDeps } from '#src/stores/sqlite.js';

export interface TestDatabaseDeps
  extends Pick<DatabaseDeps, 'file' | 'migrations'>,
    Partial<Pick<DatabaseDeps, 'logger'>> {
  /** Adds the functions that the thread of this database has. */
  extend?: Parameters<typeof serveDatabase>[1];
}

/**
 * A database that is served in the thread of the test: the same code behind the same messages. To start a thread takes 0.1 s of
 * a processor, and many tests start a database for each case; `stores-sqlite.test.ts` is about the thread.
 */
export function createTestDatabase({ extend, ...deps }: TestDatabaseDeps): Database {
  return createDatabase({ logger: silentLogger, ...deps, connect: () => serveHere(extend) });
}

function serveHere(extend: TestDatabaseDeps['extend']): DatabaseConnection {
  const { port1, port2 } = new MessageChannel();
  serveDatabase(port2, extend);
  const gone = new Promise((resolve) => port1.once('close', resolve));
  return {
    send: (request) => port1.postMessage(request),
    onReplies: (settle) => void port1.on('message', settle),
    onEnd: (die) => void port1.once('close', () => die(new Error('closed'))),
    async end() {
      port1.close();
      await gone;
    },
  };
}
