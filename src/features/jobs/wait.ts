import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import { readOptionalString } from '../../sdk/input.ts';
import type { Job } from './job.ts';
import { shown } from './shown.ts';

/** Share of the call's time reserved for the answer. */
const ANSWER_SHARE = 0.05;
/** Poll interval (ms) for growing output. Slow polls are repeated less often. */
const LOOK_EVERY_MS = 100;
const LOOK_SHARE = 10;
/** Poll interval (ms) for what the job is blocked on. */
const INPUT_LOOK_MS = 1_000;
/** A wait ends after this many consecutive polls in which the job printed nothing and only waited for input. */
const INPUT_LOOKS = 3;
/** Lines shown before the match. */
const LINES_BEFORE = 5;

/** Returns the number (from 1) of the first line that matches an RE2 pattern; null if there is no match. */
export type FindLine = (
  text: string,
  pattern: string,
  limits: { timeoutMs: number; signal: AbortSignal },
) => Promise<number | null>;

/**
 * Waits until a line of the output matches, or without a pattern until the job ends, but no longer than the call may
 * take, and only a few seconds if the job itself just waits for input. A wait for the same pattern continues after the
 * line that the last one found. The pattern sees only text that may be shown: otherwise its answers would leak a secret
 * letter by letter.
 */
export async function waitFor(
  job: Job,
  request: JsonObject,
  call: ServiceCall,
  { findLine, clock }: { findLine: FindLine; clock: Clock },
): Promise<ServiceAnswer> {
  const pattern = readOptionalString(request, 'text') ?? null;
  const until = call.endsAt - (call.endsAt - clock.monotonic()) * ANSWER_SHARE;
  let from = pattern === null ? 0 : job.seen(pattern);
  const needsInput = inputLooks(job, clock);
  for (;;) {
    const startedAt = clock.monotonic();
    // Taken before the poll, so that no output between poll and wait is missed.
    const { growth } = job.output;
    const isOver = job.end !== null;
    if (!isOver) await job.output.refresh();
    if (pattern !== null) {
      const text = await job.output.read();
      const timeoutMs = Math.max(1, until - clock.monotonic());
      const line = await findLine(text.slice(from), pattern, { timeoutMs, signal: call.signal });
      if (line !== null) return found(job, pattern, text, { from, line });
      // A terminal may still change its lines.
      if (!job.spec.isTerminal) from = Math.max(from, text.lastIndexOf('\n') + 1);
    }
    if (isOver || clock.monotonic() >= until || (await needsInput()))
      return shown(job, pattern === null ? statusOf(job) : NO_MATCH);
    await nextLook(job, growth, { startedAt, until, signal: call.signal }, clock);
  }
}

/** The exit status is 1, like grep's. */
const NO_MATCH = { matched: false, exit_code: 1 };

/** The exit status is the job's, like that of the shell's `wait`. */
function statusOf({ end }: Job): JsonObject {
  return end === null || end.exitCode === null ? {} : { exit_code: end.exitCode };
}

/** Returns a function that polls about once a second: true once the job has only waited for input for a while. */
function inputLooks(job: Job, clock: Clock): () => Promise<boolean> {
  let lookedAt = clock.monotonic();
  let printed = job.output.totalBytes;
  let looks = 0;
  return async () => {
    if (clock.monotonic() - lookedAt < INPUT_LOOK_MS) return false;
    lookedAt = clock.monotonic();
    const isQuiet = job.output.totalBytes === printed;
    printed = job.output.totalBytes;
    looks = isQuiet && (await job.activity())?.needsInput === true ? looks + 1 : 0;
    return looks >= INPUT_LOOKS;
  };
}

/** Returns when there is something new: output, a line that now counts as complete, the end, or the deadline. */
async function nextLook(
  job: Job,
  growth: Promise<void>,
  { startedAt, until, signal }: { startedAt: number; until: number; signal: AbortSignal },
  clock: Clock,
): Promise<void> {
  const now = clock.monotonic();
  const pause = Math.max(LOOK_EVERY_MS, (now - startedAt) * LOOK_SHARE);
  const quiet = job.output.quietInMs;
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  try {
    await Promise.race([
      Promise.all([growth, delay(pause, undefined, { signal: either })]),
      job.ended,
      delay(Math.max(1, Math.min(until - now, quiet ?? INPUT_LOOK_MS, INPUT_LOOK_MS)), undefined, { signal: either }),
    ]);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new ContextdError('CANCELLED', 'the wait was cancelled; the job goes on');
  } finally {
    over.abort();
  }
}

/** The match with some lines before it, and everything after it that fits. `line` is counted from offset `from`. */
function found(
  job: Job,
  pattern: string,
  text: string,
  { from, line }: { from: number; line: number },
): Promise<ServiceAnswer> {
  let end = from - 1;
  for (let count = 0; count < line; count++) {
    const next = text.indexOf('\n', end + 1);
    end = next === -1 ? text.length : next;
  }
  job.remember(pattern, Math.min(end + 1, text.length));
  const number = countLines(text, from) + line;
  const first = Math.max(1, number - LINES_BEFORE);
  return shown(job, { matched: true, line: number }, { lines: `${first}-` });
}

/** Number of newlines before an offset. */
function countLines(text: string, upTo: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < upTo; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
