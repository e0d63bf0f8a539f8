import { constants } from 'node:os';
import { ContextdError } from '../core/errors.ts';
import { explainFailure } from './probe/failures.ts';
import type { CommandResult, CommandSpec, EndedBy } from './sandbox.ts';

/** Why contextd itself ended a sandbox; `oom` and `pids` come from the watchdog. */
export type Interruption = 'timeout' | 'cancelled' | 'output_limit' | 'oom' | 'pids';

export interface EndFacts {
  /** `ran`: bubblewrap reported an exit code, which is the command's; else code and signal are bubblewrap's own. */
  readonly exit: { readonly ran: boolean; readonly code: number | null; readonly signal: NodeJS.Signals | null };
  /** What came first, if one came before the end. */
  readonly interruptedBy: Interruption | null;
  /** Of the sandbox's group since it was made; null without one. A kill at the limit of all sandboxes counts for the one that lost a process. */
  readonly events: { readonly oomKills: number; readonly pidsRefused: number } | null;
  /** The beginning of stderr: where the command never ran, it holds bubblewrap's own words. */
  readonly stderr: string;
  /** Where the command was to run. */
  readonly cwd: string;
}

export type Verdict = Pick<CommandResult, 'exitCode' | 'signal' | 'endedBy'>;

/**
 * How a sandbox ended. Pure. Throws PATH_NOT_FOUND when there is no such directory inside, and SANDBOX_UNAVAILABLE
 * when the sandbox did not start. What a limit of each process refused (RLIMIT_DATA, RLIMIT_NPROC) leaves no trace
 * but the command's own failure, so it is called that.
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

/** The command ended by itself, so its exit code is its own; 128 + n is how a shell says signal n. */
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

/** All of stderr is the sandbox's own then: the command never ran, so it cannot have written it. */
function neverRan({ stderr, cwd }: EndFacts): Verdict {
  const missing = /^bwrap: execvp [\s\S]*: (No such file or directory|Permission denied|.+)$/m.exec(stderr);
  if (missing !== null) {
    return { exitCode: missing[1] === 'No such file or directory' ? 127 : 126, signal: null, endedBy: 'exit' };
  }
  if (/^bwrap: Can't chdir to /m.test(stderr)) {
    throw new ContextdError('PATH_NOT_FOUND', `the directory ${cwd} is not there in the sandbox`, {
      remedy: 'Name a directory inside the workspace.',
    });
  }
  const { missing: why, remedy } = explainFailure(stderr);
  throw new ContextdError('SANDBOX_UNAVAILABLE', why, { remedy, cause: new Error(stderr) });
}

/** `first` tells which came first, if one came before the end. */
interface Interruptions {
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

/** True if a command that printed this many bytes must be killed. */
export function isTooMuch(bytes: number, { outputKillBytes }: Pick<CommandSpec, 'outputKillBytes'>): boolean {
  return outputKillBytes > 0 && bytes > outputKillBytes;
}
