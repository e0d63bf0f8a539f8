import { ContextdError } from '../../core/errors.ts';

/** Why a daemon is not replaced, or not stopped. */

export function otherStarts(): ContextdError {
  return new ContextdError('CONFLICT', 'a daemon is being started', { remedy: 'Restart again in a moment.' });
}

export function spawnerEnded(): ContextdError {
  return new ContextdError('CONFLICT', 'the process that runs sandboxes has just ended', {
    remedy: 'Nothing was interrupted by the restart. Restart again.',
  });
}

export function tookTooLong(maxMs: number): ContextdError {
  return new ContextdError('TIMEOUT', `the new daemon did not take over within ${maxMs} ms`, {
    remedy: 'See `ctxd server logs`. The next call starts contextd.',
  });
}

export function underWay(): ContextdError {
  return new ContextdError('CONFLICT', 'the daemon is being restarted already', { remedy: 'Wait until it has ended.' });
}

export function stopLater(): ContextdError {
  return new ContextdError('CONFLICT', 'the daemon is being restarted and cannot be stopped meanwhile', {
    remedy: 'Run `ctxd server stop` again once the restart has ended.',
  });
}

export function stops(): ContextdError {
  return new ContextdError('CONFLICT', 'the daemon is being stopped', { remedy: 'Start it with `ctxd server start`.' });
}

export function answersLate(maxMs: number): ContextdError {
  return new ContextdError('CONFLICT', `a call that has ended had no answer within ${maxMs} ms`, {
    remedy: 'Nothing was interrupted. Restart again, or see `ctxd ps` for what runs.',
  });
}
