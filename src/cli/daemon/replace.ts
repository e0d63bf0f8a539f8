import { ContextdError } from '../../core/errors.ts';
import type { StatusResponse__Output as StatusResponse } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { drainMs } from './drain-ms.ts';
import { statusOrAbsent } from './launch.ts';

interface Replaced {
  /** The daemon before, as it was. */
  previous: StatusResponse;
  carried_calls: number;
  carried_jobs: number;
}

/**
 * Lets the daemon start its successor and hand over what runs. Null if none runs, or if the daemon cannot. Throws why the new one did
 * not start; the old one then goes on.
 */
export async function replaceDaemon(context: CliContext): Promise<Replaced | null> {
  const previous = await unless(UNWELL, statusOrAbsent(context));
  if (previous === undefined || previous === null) return null;
  const patienceMs = (await drainMs(context)) + REPLACE_MS;
  const carried = await unless(
    CANNOT,
    withClient(context.paths, (client) => client.restartServer({ path: context.env.path }, patienceMs)),
  );
  return carried && { previous, carried_calls: carried.carried_calls, carried_jobs: carried.carried_jobs };
}

/**
 * Milliseconds beside the drain time: the new daemon gets 20 seconds to get ready and as many to take over, and what else keeps the
 * state from moving has 10 seconds each.
 */
const REPLACE_MS = 90_000;
/** It has no such rpc, or cannot do it, or answers that its sandboxes cannot be used. After any other error one of the two goes on. */
const CANNOT: ReadonlySet<string> = new Set(['NOT_IMPLEMENTED', 'VERSION_MISMATCH', 'SANDBOX_UNAVAILABLE']);
/** For a question that a daemon answers at once. */
const UNWELL: ReadonlySet<string> = new Set([...CANNOT, 'TIMEOUT']);

/** Null for an error with one of the codes. */
async function unless<T>(codes: ReadonlySet<string>, asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ContextdError && codes.has(error.code)) return null;
    throw error;
  }
}
