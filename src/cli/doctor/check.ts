import { ContextdError } from '../../core/errors.ts';
import type { Check } from '../render.ts';

export function ok(name: string, detail: string): Check {
  return { name, status: 'ok', detail, remedy: '' };
}

export function warn(name: string, detail: string, remedy: string): Check {
  return { name, status: 'warn', detail, remedy };
}

export function fail(name: string, detail: string, remedy: string): Check {
  return { name, status: 'fail', detail, remedy };
}

/** Runs a check. If it throws, the check has failed with the remedy of the error. */
export async function attempt(name: string, check: () => Promise<Check | readonly Check[]>): Promise<readonly Check[]> {
  try {
    return [await check()].flat();
  } catch (thrown) {
    if (thrown instanceof ContextdError)
      return [fail(name, thrown.message, thrown.remedy ?? 'See `ctxd server logs`.')];
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return [fail(name, reason, 'Fix this, then run the check again.')];
  }
}
