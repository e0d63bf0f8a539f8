import { constants } from 'node:os';
import { ContextdError } from '../../core/errors.ts';
import type { CommandResult, CommandSpec, EndedBy } from '../contract/command.ts';
import { explainFailure } from '../machine/failures.ts';

/** Why contextd itself ended a sandbox; `oom` and `pids` come from the watchdog, `input` from the terminal. */
export type Interruption = 'timeout' | 'cancelled' | 'output_limit' | 'storage_limit' | 'input' | 'oom' | 'pids';

export interface EndFacts {
  /**
   * `ran`: bubblewrap reported an exit code, which is the command's; otherwise code and signal are bubblewrap's own.
   */
  readonly exit: { readonly ran: boolean; readonly code: number | null; readonly signal: NodeJS.Signals | null };
  /** The first interruption before the end, if there was one. */
  readonly interruptedBy: Interruption | null;
  /**
   * Events of the sandbox's group since it was made; null without a group. If the limit of all sandboxes is reached,
   * the kill counts for the sandbox that lost a process.
   */
  readonly events: { readonly oomKills: number; readonly pidsRefused: number } | null;
  /** The beginning of stderr; if the command never ran, these are bubblewrap's own messages. */
  readonly stderr: string;
  /** The directory in which the command was to run. */
  readonly cwd: string;
}

export type Verdict = Pick<CommandResult, 'exitCode' | 'signal' | 'endedBy'>;

/**
 * How a sandbox ended. Pure. Throws PATH_NOT_FOUND if the directory does not exist inside, and SANDBOX_UNAVAILABLE if
 * the sandbox did not start. If a per-process limit refuses something (RLIMIT_DATA, RLIMIT_NPROC), the only trace is
 * the command's own failure, so that is what is reported.
 */
export function judgeEnd(facts: EndFacts): Verdict {
  const { exit, interruptedBy } = facts;
  const events = facts.events ?? { oomKills: 0, pidsRefused: 0 };
  if (exit.ran) return ownEnd(exit.code ?? 0, events);
  if (interruptedBy !== null) return killed('SIGKILL', interruptedBy);
  if (events.oomKills > 0) return killed(exit.signal ?? 'SIGKILL', 'oom');
  if (exit.signal !== null) return killed(exit.signal, exit.signal === 'SIGSYS' ? 'seccomp' : 'signal');
  return neverRan(facts);
}

/** The command ended by itself, so the exit code is its own; a shell reports signal n as 128 + n. */
function ownEnd(code: number, events: { oomKills: number; pidsRefused: number }): Verdict {
  const signal = signalOf(code);
  return { exitCode: code, signal, endedBy: reasonOf(code, signal, events) };
}

function reasonOf(
  code: number,
  signal: NodeJS.Signals | null,
  events: { oomKills: number; pidsRefused: number },
): EndedBy {
  if (events.oomKills > 0) return 'oom';
  if (signal === 'SIGSYS') return 'seccomp';
  if (code !== 0 && events.pidsRefused > 0) return 'pids';
  return signal === null ? 'exit' : 'signal';
}

function killed(signal: NodeJS.Signals, endedBy: EndedBy): Verdict {
  return { exitCode: null, signal, endedBy };
}

function signalOf(code: number): NodeJS.Signals | null {
  for (const [name, number] of Object.entries(constants.signals)) {
    if (number === code - 128 && isSignalName(name)) return name;
  }
  return null;
}

function isSignalName(name: string): name is NodeJS.Signals {
  return name.startsWith('SIG');
}

/** All of stderr is from the sandbox: the command never ran, so it cannot have written any of it. */
function neverRan({ stderr, cwd }: EndFacts): Verdict {
  const missing = /^bwrap: execvp [\s\S]*: (No such file or directory|Permission denied|.+)$/m.exec(stderr);
  if (missing !== null) {
    return { exitCode: missing[1] === 'No such file or directory' ? 127 : 126, signal: null, endedBy: 'exit' };
  }
  if (/^bwrap: Can't chdir to /m.test(stderr)) {
    throw new ContextdError('PATH_NOT_FOUND', `the directory ${cwd} does not exist in the sandbox`, {
      remedy: 'Name a directory inside the workspace.',
    });
  }
  const { missing: why, remedy } = explainFailure(stderr);
  throw new ContextdError('SANDBOX_UNAVAILABLE', why, { remedy, cause: new Error(stderr) });
}

/** `first` returns the first interruption before the end, or null. */
interface Interruptions {
  interrupt(why: Interruption): void;
  first(): Interruption | null;
}

/** Until `until` aborts: kills on timeout, on cancellation and when `interrupt` is called. */
export function watchForInterruption(
  command: Pick<CommandSpec, 'timeoutMs' | 'signal'>,
  kill: (why: Interruption) => void,
  until: AbortSignal,
): Interruptions {
  let first: Interruption | null = null;
  const interrupt = (why: Interruption): void => {
    if (until.aborted) return;
    first ??= why;
    kill(first);
  };
  const timer = setTimeout(() => interrupt('timeout'), command.timeoutMs);
  until.addEventListener('abort', () => clearTimeout(timer), { once: true });
  command.signal.addEventListener('abort', () => interrupt('cancelled'), { signal: until });
  if (command.signal.aborted) interrupt('cancelled');
  return { interrupt, first: () => first };
}

/** True if a command that printed this many bytes must be killed. */
export function isTooMuch(bytes: number, { outputKillBytes }: Pick<CommandSpec, 'outputKillBytes'>): boolean {
  return outputKillBytes > 0 && bytes > outputKillBytes;
}
