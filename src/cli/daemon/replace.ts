import { ContextdError } from '../../core/errors.ts';
import type { StatusResponse__Output as StatusResponse } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
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
  try {
    const previous = await statusOrAbsent(context);
    if (previous === undefined) return null;
    const { carried_calls, carried_jobs } = await withClient(context.paths, (client) =>
      client.restartServer({ path: context.env.path }),
    );
    return { previous, carried_calls, carried_jobs };
  } catch (error) {
    if (error instanceof ContextdError && CANNOT.has(error.code)) return null;
    throw error;
  }
}

/** It has no such rpc, or cannot do it, or does not answer, or answers that its sandboxes cannot be used. */
const CANNOT: ReadonlySet<string> = new Set(['NOT_IMPLEMENTED', 'VERSION_MISMATCH', 'TIMEOUT', 'SANDBOX_UNAVAILABLE']);
