import { isErrno } from '../../core/errors.ts';
import { quoteName } from '../../core/own-line.ts';
import type { Activity } from '../contract/command.ts';
import { type FileId, LimitedProcFiles, LookTooLong, PROC_FILES, type ProcFiles } from './proc-files.ts';
import { processesInside, usageInside } from './processes-inside.ts';
import { isListening, socketWords } from './socket-words.ts';
import { type ThreadWait, type WaitFor, waitOfThread } from './thread-wait.ts';

/** Maximum number of threads examined per sandbox. Beyond it the answer claims nothing about all threads. */
const THREADS_MAX = 256;
/** Limits on reads and milliseconds: for examining threads, and for describing their waits. */
const [THREAD_READS_MAX, WORD_READS_MAX, LOOK_MAX_MS] = [4_096, 64, 250];
/** Maximum number of different waits to describe, and of different descriptions to show. */
const [DESCRIBED_MAX, NAMED_MAX] = [8, 2];
const NAME_MAX_CHARS = 40;
/** Longer paths are not shown: a cut path could contain part of a secret, and secrets are found only as a whole. */
const PATH_MAX_CHARS = 120;
const NAMELESS = 'a program';
/** Enough for a name that is short enough to be shown. */
const CMDLINE_MAX_BYTES = 256;

/** Most informative kind first. A program that watches files also talks to its own processes over sockets. */
const KINDS = ['busy', 'terminal', 'stdin', 'lock', 'files', 'network', 'sleep', 'unknown', 'pipe', 'own'] as const;

/** Waits that input ends, and waits that do not contradict them: for other processes of the command. */
const INPUT: ReadonlySet<WaitFor['kind']> = new Set(['terminal', 'stdin']);
const BESIDE_INPUT: ReadonlySet<WaitFor['kind']> = new Set(['terminal', 'stdin', 'own', 'pipe']);

interface SeenThread extends ThreadWait {
  readonly pid: number;
}

/**
 * Current activity of the processes in a sandbox; null without processes. `stdin` is the pipe of the command's input,
 * `helper` the pid of a process of contextd itself.
 */
export function activityInside(initPid: number, stdin: FileId | null, helper: number | null): Activity | null {
  const pids = processesInside(initPid).filter((pid) => pid !== helper);
  return activityOf(pids, stdin, usageInside(initPid).cpuMs, PROC_FILES);
}

/**
 * Activity of these processes. The work is bounded and the excess is left out: the command may have created as many
 * processes as it can, and killing it waits for this answer.
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

/** Descriptions of the first few different waits, and whether the command only accepts connections. */
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
  if (kind === 'files') return 'watching';
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
    case 'files':
      return `${name} waits for changes of files`;
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
 * The process's own name for itself, or its executable's file name. Shown in full or not at all: secrets are searched
 * for in the text later, and found only as a whole.
 */
function nameOf(pid: number, files: ProcFiles): string {
  const cmdline = files.text(`/proc/${pid}/cmdline`, CMDLINE_MAX_BYTES);
  const end = cmdline.indexOf('\0');
  const first = end < 0 ? '' : cmdline.slice(0, end);
  if (isShort(first) && !first.includes('/')) return quoteName(first);
  const file = fileOf(pid, files).replace(/ \(deleted\)$/, '');
  const name = file.slice(file.lastIndexOf('/') + 1);
  // The kernel returns the whole path, so its last component is not part of a longer word.
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
