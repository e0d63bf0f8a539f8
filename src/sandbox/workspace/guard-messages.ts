import type { SetAside } from '../../core/envelope.ts';
import type { LogFields } from '../../core/log.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../quarantine.ts';
import type { WireError } from '../spawner/messages.ts';
import type { Cover, Protection } from './protection.ts';
import type { Moment } from './runs.ts';
import type { Person } from './targets.ts';

/** What the thread is started with. */
export interface GuardThreadData {
  /** `process.hrtime()` in milliseconds at which the clock of the main thread shows 0. */
  readonly clockStartMs: number;
}

/** What one guard protects. */
export interface GuardSettings {
  /** Absolute real path. */
  readonly workspace: string;
  /** Deny globs. */
  readonly deny: readonly string[];
  /** The person whose programs run on the host. */
  readonly person: Person;
  /** Where the ledger of the workspace is. */
  readonly ledgerFile: string;
}

/**
 * To the thread, in order. `guard` and `run` are numbers that the main thread gives out. A message with a `call` is answered
 * when the thread comes to it; the others, and the end of the run in `finish`, take effect before its next decision.
 */
export type GuardRequest =
  | { op: 'open'; guard: number; settings: GuardSettings }
  | { op: 'begin'; guard: number; run: number; cover: Cover; began: Moment }
  | { op: 'resume'; guard: number; run: number; cover: Cover; began: Moment; ended: Moment | null }
  | { op: 'forget'; guard: number; run: number }
  | { op: 'building'; guard: number; paths: readonly string[]; change: 1 | -1 }
  | { op: 'companions'; guard: number; trees: readonly string[] }
  | { op: 'enclosing'; guard: number; gitDir: string }
  | { op: 'close'; guard: number }
  | GuardCall;

/** `fingerprint`: of the protection that the main thread has, or null. */
export type GuardCall =
  | { op: 'protection'; guard: number; call: number; fingerprint: string | null }
  | { op: 'finish'; guard: number; call: number; run: number; ended: Moment }
  | { op: 'quarantine'; guard: number; call: number; action: QuarantineAction }
  | { op: 'settled'; guard: number; call: number }
  | { op: 'stop'; call: number };

/** The result of each call. `protection`: null if it is the one that the main thread has. */
export interface GuardResults {
  protection: Protection | null;
  finish: QuarantineReport;
  quarantine: QuarantineResult;
  settled: null;
  stop: null;
}

/**
 * From the thread. `settled`: the thread has searched everything that an ended run may have changed. `found`: a run that
 * still goes on made something that was moved aside.
 */
export type GuardReply =
  | { re: 'ok'; call: number; result: GuardResults[keyof GuardResults] }
  | { re: 'error'; call: number; error: WireError }
  | { re: 'settled'; guard: number; run: number }
  | { re: 'found'; guard: number; run: number; found: SetAside; isAgain: boolean }
  | { re: 'log'; level: 'debug' | 'info' | 'warn' | 'error'; event: string; fields: LogFields };

/** Where the result of a request goes. A request that is served during other work cannot return a promise in time. */
export interface Answer<T> {
  resolve(result: T): void;
  reject(cause: unknown): void;
}
