import type { DatabaseSync } from 'node:sqlite';
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { ContextdError } from '../core/errors.ts';
import { packError } from '../core/wire-error.ts';
import {
  BatchRunner,
  copyDatabase,
  type DatabaseRequest,
  type DatabaseResult,
  type Envelope,
  fromDatabaseFault,
  openDatabase,
  type Reply,
  type Work,
} from './sqlite-engine.ts';

/** The most requests in one transaction. Bounds how long the first of them waits for the last. */
const BATCH_MAX = 256;

type Message = Envelope<DatabaseRequest>;

/**
 * Owns one database in a thread: opens it, runs its requests, closes it. `extend` adds functions to the connection once the
 * schema is the newest.
 */
export function serveDatabase(port: MessagePort, extend: (database: DatabaseSync) => void = () => {}): void {
  let database: DatabaseSync | undefined;
  let runner: BatchRunner | undefined;

  function control({ id, body }: Message): Reply<DatabaseResult> {
    try {
      if (body.kind === 'open') {
        database = openDatabase(body);
        extend(database);
        runner = new BatchRunner(database, body.file);
      } else {
        database?.close();
        runner = undefined;
      }
      return { id, result: [] };
    } catch (thrown) {
      return { id, fault: packError(fromDatabaseFault(thrown, 'the database')) };
    }
  }

  async function copy(id: number, to: string): Promise<void> {
    try {
      if (database === undefined) throw notOpen();
      await copyDatabase(database, to);
      port.postMessage([{ id, result: [] } satisfies Reply<DatabaseResult>]);
    } catch (thrown) {
      port.postMessage([{ id, fault: packError(fromDatabaseFault(thrown, to)) } satisfies Reply<DatabaseResult>]);
    }
  }

  function handle(batch: readonly Message[]): Reply<DatabaseResult>[] {
    const replies: Reply<DatabaseResult>[] = [];
    let works: Work[] = [];
    const runWorks = () => {
      replies.push(...(runner ? runner.run(works) : works.map(refuse)));
      works = [];
    };
    for (const message of batch) {
      if (isWork(message)) works.push(message);
      else {
        runWorks();
        if (message.body.kind === 'copy') void copy(message.id, message.body.to);
        else replies.push(control(message));
      }
    }
    runWorks();
    return replies;
  }

  port.on('message', (first: Message) => port.postMessage(handle(takeQueued(port, first))));
}

/** Takes the requests that arrived while the last transaction ran. */
function takeQueued(port: MessagePort, first: Message): Message[] {
  const batch = [first];
  while (batch.length < BATCH_MAX) {
    const next = receiveMessageOnPort(port);
    if (next === undefined) break;
    batch.push(next.message);
  }
  return batch;
}

function isWork(message: Message): message is Work {
  return message.body.kind === 'read' || message.body.kind === 'write';
}

function refuse({ id }: Work): Reply<DatabaseResult> {
  return { id, fault: packError(notOpen()) };
}

function notOpen(): ContextdError {
  return new ContextdError('INTERNAL_ERROR', 'the database is not open');
}
