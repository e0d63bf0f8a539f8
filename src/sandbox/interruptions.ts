import type { CommandSpec } from './sandbox.ts';
import type { Interruption } from './verdict.ts';

/** `first` tells which came first, if one came before the end. */
export interface Interruptions {
  interrupt(why: Interruption): void;
  first(): Interruption | null;
}

/** Kills on timeout, on cancellation and when told to, until the command is over. */
export function watchForInterruption(
  command: Pick<CommandSpec, 'timeoutMs' | 'signal'>,
  kill: () => void,
  until: AbortSignal,
): Interruptions {
  let first: Interruption | null = null;
  const interrupt = (why: Interruption): void => {
    if (until.aborted) return;
    first ??= why;
    kill();
  };
  const timer = setTimeout(() => interrupt('timeout'), command.timeoutMs);
  until.addEventListener('abort', () => clearTimeout(timer), { once: true });
  command.signal.addEventListener('abort', () => interrupt('cancelled'), { signal: until });
  if (command.signal.aborted) interrupt('cancelled');
  return { interrupt, first: () => first };
}
