import { readdirSync, readFileSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';
import { quoteName } from '../core/own-line.ts';
import { processesInside, usageInside } from './processes-inside.ts';
import type { Activity } from './sandbox.ts';
import { isListening, socketWords } from './socket-words.ts';
import { type FileId, type ThreadWait, type WaitFor, waitOfThread } from './thread-wait.ts';

/** Threads of one sandbox that are looked at; of more, nothing is said about all of them. */
const THREADS_MAX = 256;
/** Different things that the words name. */
const NAMED_MAX = 2;
const NAME_MAX_CHARS = 40;

/** What tells most comes first. */
const KINDS = ['busy', 'terminal', 'stdin', 'lock', 'network', 'sleep', 'unknown', 'pipe', 'own'] as const;

/** What input wakes, and what only other processes of the command wake. */
const INPUT: ReadonlySet<WaitFor['kind']> = new Set(['terminal', 'stdin']);
const BESIDE_INPUT: ReadonlySet<WaitFor['kind']> = new Set(['terminal', 'stdin', 'own', 'pipe']);

interface SeenThread extends ThreadWait {
  readonly pid: number;
}

/**
 * What the processes of a sandbox do now; null if it has none. `stdin` is the pipe that is the command's input, `helper`
 * a process of contextd's own.
 */
export function activityInside(initPid: number, stdin: FileId | null, helper: number | null): Activity | null {
  const pids = processesInside(initPid).filter((pid) => pid !== helper);
  const threads: SeenThread[] = [];
  for (const pid of pids) {
    for (const tid of threadsOf(pid)) {
      if (threads.length === THREADS_MAX) break;
      threads.push({ pid, ...waitOfThread(pid, tid, stdin) });
    }
  }
  if (threads.length === 0) return null;
  const { cpuMs } = usageInside(initPid);
  const all = threads.flatMap(({ pid, waits }) => waits.map((wait) => ({ pid, wait })));
  const kinds = new Set(all.map(({ wait }) => wait.kind));
  const first = KINDS.find((kind) => kinds.has(kind)) ?? 'unknown';
  const named = all.filter(({ wait }) => wait.kind === first);
  const words = [...new Set(named.map(({ pid, wait }) => wordsFor(pid, wait, cpuMs)))];
  const hasInput = [...kinds].some((kind) => INPUT.has(kind));
  const needsInput = hasInput && threads.length < THREADS_MAX && [...kinds].every((kind) => BESIDE_INPUT.has(kind));
  return {
    kind: isServer(named) ? 'listening' : kindOf(first),
    text: words.slice(0, NAMED_MAX).join('; '),
    needsInput,
    isStuck: needsInput && !threads.some(({ hasTimer }) => hasTimer),
    cpuMs,
  };
}

/** True if the command only accepts connections. */
function isServer(named: readonly { pid: number; wait: WaitFor }[]): boolean {
  return named.every(({ pid, wait }) => wait.kind === 'network' && isListening(pid, wait.inode));
}

function kindOf(kind: WaitFor['kind']): Activity['kind'] {
  if (INPUT.has(kind)) return 'input';
  return kind === 'busy' || kind === 'network' || kind === 'lock' ? kind : 'other';
}

function wordsFor(pid: number, wait: WaitFor, cpuMs: number): string {
  const name = nameOf(pid);
  switch (wait.kind) {
    case 'busy':
      return `${name} computes; the command has used ${(cpuMs / 1000).toFixed(1)} s of processor time`;
    case 'terminal':
      return `${name} waits for input on its terminal`;
    case 'stdin':
      return `${name} waits for input`;
    case 'lock':
      return `${name} waits for the lock on ${quoteName(wait.path)}`;
    case 'network':
      return `${name} waits for ${socketWords(pid, wait.inode)}`;
    case 'sleep':
      return `${name} sleeps`;
    case 'pipe':
      return `${name} waits for data from a pipe`;
    case 'own':
      return `${name} waits for its own processes or threads`;
    case 'unknown':
      return `${name} waits`;
  }
}

/** What the process calls itself: the last part of its first argument. */
function nameOf(pid: number): string {
  const [first = ''] = read(`/proc/${pid}/cmdline`).split('\0', 1);
  const name = first === '' ? read(`/proc/${pid}/comm`).trim() : first;
  return name === '' ? 'a process' : quoteName(name.slice(name.lastIndexOf('/') + 1).slice(0, NAME_MAX_CHARS));
}

function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch (cause) {
    if (isErrno(cause)) return [];
    throw cause;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (cause) {
    if (isErrno(cause)) return '';
    throw cause;
  }
}
