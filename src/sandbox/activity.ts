import { isErrno } from '../core/errors.ts';
import { quoteName } from '../core/own-line.ts';
import { type FileId, LimitedProcFiles, LookTooLong, PROC_FILES, type ProcFiles } from './proc-files.ts';
import { processesInside, usageInside } from './processes-inside.ts';
import type { Activity } from './sandbox.ts';
import { isListening, socketWords } from './socket-words.ts';
import { type ThreadWait, type WaitFor, waitOfThread } from './thread-wait.ts';

/** Threads of one sandbox that are looked at; of more, nothing is said about all of them. */
const THREADS_MAX = 256;
/** Reads and milliseconds of one look at the threads, and of finding words for what they wait for. */
const [THREAD_READS_MAX, WORD_READS_MAX, LOOK_MAX_MS] = [4_096, 64, 250];
/** Different waits that words are sought for, and different words that are shown. */
const [DESCRIBED_MAX, NAMED_MAX] = [8, 2];
const NAME_MAX_CHARS = 40;
/** A longer path is not shown: its parts could be parts of a secret, which is found only as a whole. */
const PATH_MAX_CHARS = 120;
const NAMELESS = 'a program';
/** Enough for a name that is short enough to be shown. */
const CMDLINE_MAX_BYTES = 256;

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
  return activityOf(pids, stdin, usageInside(initPid).cpuMs, PROC_FILES);
}

/**
 * What these processes do. The command may have made as much to look at as it can, and its kill waits for the answer: the
 * work has a limit, and what is beyond it is left out.
 */
export function activityOf(
  pids: readonly number[],
  stdin: FileId | null,
  cpuMs: number,
  files: ProcFiles,
): Activity | null {
  const { threads, isWhole } = lookAtThreads(pids, stdin, files);
  if (threads.length === 0) return null;
  const all = threads.flatMap(({ pid, waits }) => waits.map((wait) => ({ pid, wait })));
  const kinds = new Set(all.map(({ wait }) => wait.kind));
  const first = KINDS.find((kind) => kinds.has(kind)) ?? 'unknown';
  const hasInput = [...kinds].some((kind) => INPUT.has(kind));
  const needsInput = hasInput && isWhole && [...kinds].every((kind) => BESIDE_INPUT.has(kind));
  const named = all.filter(({ wait }) => wait.kind === first);
  const { words, isServer } = describe(named, cpuMs, files);
  return {
    kind: isServer ? 'listening' : kindOf(first),
    text: words.join('; '),
    needsInput,
    isStuck: needsInput && !threads.some(({ hasTimer }) => hasTimer),
    cpuMs,
  };
}

function lookAtThreads(
  pids: readonly number[],
  stdin: FileId | null,
  unlimited: ProcFiles,
): { threads: readonly SeenThread[]; isWhole: boolean } {
  const files = new LimitedProcFiles(unlimited, THREAD_READS_MAX, LOOK_MAX_MS);
  const threads: SeenThread[] = [];
  try {
    for (const pid of pids) {
      for (const tid of files.names(`/proc/${pid}/task`)) {
        if (threads.length === THREADS_MAX) return { threads, isWhole: false };
        threads.push({ pid, ...waitOfThread(pid, Number(tid), stdin, files) });
      }
    }
    return { threads, isWhole: true };
  } catch (cause) {
    if (cause instanceof LookTooLong) return { threads, isWhole: false };
    throw cause;
  }
}

/** Words for the first few different waits, and whether the command only accepts connections. */
function describe(
  waits: readonly { readonly pid: number; readonly wait: WaitFor }[],
  cpuMs: number,
  unlimited: ProcFiles,
): { words: readonly string[]; isServer: boolean } {
  const files = new LimitedProcFiles(unlimited, WORD_READS_MAX, LOOK_MAX_MS);
  const different = new Map(waits.map((one) => [JSON.stringify(one), one]));
  const words = new Set<string>();
  let isServer = different.size > 0 && different.size <= DESCRIBED_MAX;
  try {
    for (const { pid, wait } of [...different.values()].slice(0, DESCRIBED_MAX)) {
      isServer &&= wait.kind === 'network' && isListening(pid, wait.inode, files);
      words.add(wordsFor(pid, wait, cpuMs, files));
      if (words.size === NAMED_MAX) break;
    }
  } catch (cause) {
    if (!(cause instanceof LookTooLong)) throw cause;
    isServer = false;
  }
  return { words: [...words], isServer };
}

function kindOf(kind: WaitFor['kind']): Activity['kind'] {
  if (INPUT.has(kind)) return 'input';
  return kind === 'busy' || kind === 'network' || kind === 'lock' ? kind : 'other';
}

function wordsFor(pid: number, wait: WaitFor, cpuMs: number, files: ProcFiles): string {
  const name = nameOf(pid, files);
  switch (wait.kind) {
    case 'busy':
      return `${name} computes; the command has used ${(cpuMs / 1000).toFixed(1)} s of processor time`;
    case 'terminal':
      return `${name} waits for input on its terminal`;
    case 'stdin':
      return `${name} waits for input`;
    case 'lock':
      return `${name} waits for the lock on ${wait.path.length > PATH_MAX_CHARS ? 'a file' : quoteName(wait.path)}`;
    case 'network':
      return `${name} waits for ${socketWords(pid, wait.inode, files)}`;
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

/**
 * What the process calls itself, or the file that it runs. Secrets are found in the words later, and only as a whole: so a
 * name is shown whole or not at all.
 */
function nameOf(pid: number, files: ProcFiles): string {
  const cmdline = files.text(`/proc/${pid}/cmdline`, CMDLINE_MAX_BYTES);
  const end = cmdline.indexOf('\0');
  const first = end < 0 ? '' : cmdline.slice(0, end);
  if (isShort(first) && !first.includes('/')) return quoteName(first);
  const file = fileOf(pid, files).replace(/ \(deleted\)$/, '');
  const name = file.slice(file.lastIndexOf('/') + 1);
  // The kernel ends the path of a file with its name: this is no part of a longer word.
  return isShort(name) ? quoteName(name) : NAMELESS;
}

function isShort(name: string): boolean {
  return name !== '' && name.length <= NAME_MAX_CHARS;
}

function fileOf(pid: number, files: ProcFiles): string {
  try {
    return files.link(`/proc/${pid}/exe`);
  } catch (cause) {
    if (isErrno(cause)) return '';
    throw cause;
  }
}
