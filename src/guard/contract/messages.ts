import type { SetAside } from '../../core/envelope.ts';
import type { LogFields } from '../../core/log.ts';
import type { WireError } from '../../core/wire-error.ts';
import type { Moment } from './moment.ts';
import type { Person } from './person.ts';
import type { Cover, Protection } from './protection.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from './quarantine.ts';

/** `workerData` of the thread. */
export interface GuardThreadData {
  /** `process.hrtime()` in milliseconds at which the main thread's monotonic clock was 0. */
  readonly clockStartMs: number;
}

/** Settings of one guard. */
export interface GuardSettings {
  /** Absolute real path. */
  readonly workspace: string;
  /** Deny globs. */
  readonly deny: readonly string[];
  /** The person whose programs run on the host. */
  readonly person: Person;
  /** Path of the workspace's ledger. */
  readonly ledgerFile: string;
  /** Absolute paths of contextd's own directories. Sandboxes write some of their contents. */
  readonly ownDirectories: readonly string[];
}

/**
 * Sent to the thread, in order. The main thread assigns the ids `guard` and `run`. A message with a `call` is answered
 * when the thread gets to it. All others, and the end of the run in `finish`, take effect before the thread's next
 * decision.
 */
export type GuardRequest =
  | { op: 'open'; guard: number; settings: GuardSettings }
  | { op: 'begin'; guard: number; run: number; cover: Cover; began: Moment; isSearched: boolean }
  | { op: 'resume'; guard: number; run: number; cover: Cover; began: Moment; ended: Moment | null; isSearched: boolean }
  | { op: 'forget'; guard: number; run: number }
  | { op: 'building'; guard: number; paths: readonly string[]; change: 1 | -1 }
  | { op: 'companions'; guard: number; trees: readonly string[] }
  | { op: 'enclosing'; guard: number; gitDir: string }
  | { op: 'read_only'; guard: number; places: readonly string[] }
  | { op: 'close'; guard: number }
  | GuardCall;

/** `fingerprint`: of the protection that the main thread has cached; null if it has none. */
export type GuardCall =
  | { op: 'protection'; guard: number; call: number; fingerprint: string | null }
  | { op: 'finish'; guard: number; call: number; run: number; ended: Moment }
  | { op: 'search'; guard: number; call: number }
  | { op: 'quarantine'; guard: number; call: number; action: QuarantineAction }
  | { op: 'settled'; guard: number; call: number }
  | { op: 'stop'; call: number };

/** The result of each call. `protection`: null if the main thread's cached one is current. */
export interface GuardResults {
  protection: Protection | null;
  finish: QuarantineReport;
  search: null;
  quarantine: QuarantineResult;
  settled: null;
  stop: null;
}

/**
 * Sent by the thread. `settled`: the thread has searched everything that an ended run may have changed. `found`: a path
 * created by an active run was moved away.
 */
export type GuardReply =
  | { re: 'ok'; call: number; result: GuardResults[keyof GuardResults] }
  | { re: 'error'; call: number; error: WireError }
  | { re: 'settled'; guard: number; run: number }
  | { re: 'found'; guard: number; run: number; found: SetAside }
  | { re: 'log'; level: 'debug' | 'info' | 'warn' | 'error'; event: string; fields: LogFields };

/** Settles a request. Not a promise: a request served during other work cannot wait for one. */
export interface Answer<T> {
  resolve(result: T): void;
  reject(cause: unknown): void;
}
