import { loadConfig } from '../../config/load.ts';
import { ContextdError } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';

/** Milliseconds that calls get to end. 0 for a configuration that became invalid after the daemon read it: that prevents no stop. */
export async function drainMs(context: CliContext): Promise<number> {
  try {
    return (await loadConfig(context.paths)).server.drain_ms;
  } catch (error) {
    if (error instanceof ContextdError) return 0;
    throw error;
  }
}
