import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { ServiceAnswer, ServiceCall } from '../runner/host-methods.ts';
import { readOptionalString } from '../sdk/input.ts';
import type { Job } from './job.ts';
import { shown } from './shown.ts';

/** Part of the call's time that is left for the answer. */
const ANSWER_SHARE = 0.05;
/** Milliseconds between two looks at an output that grows; a look that takes long is repeated less often. */
const LOOK_EVERY_MS = 100;
const LOOK_SHARE = 10;
/** Milliseconds between two looks at what the job itself waits for. */
const INPUT_LOOK_MS = 1_000;
/** Looks in a row that find a job without new output that only waits for input, until a wait is over. */
const INPUT_LOOKS = 3;
/** Lines before the match that are shown. */
const LINES_BEFORE = 5;

/** The number of the first line of a text that matches a RE2 pattern, from 1; null if no line does. */
export type FindLine = (
  text: string,
  pattern: string,
  limits: { timeoutMs: number; signal: AbortSignal },
) => Promise<number | null>;

/**
 * Waits until a line of the output matches, or without a pattern until the job ends, but not longer than the call may
 * take, and not longer than a moment if the job itself only waits for input. A wait for the same pattern goes on behind the line that the last one found. The pattern sees only what may be
 * shown: otherwise its answers would tell a secret letter by letter.
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
    // Before the look, so that no output between the look and the wait is missed.
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

/** The exit status of the call is 1, as that of grep. */
const NO_MATCH = { matched: false, exit_code: 1 };

/** The exit status of the call is that of the job, as that of the shell's `wait`. */
function statusOf({ end }: Job): JsonObject {
  return end === null || end.exitCode === null ? {} : { exit_code: end.exitCode };
}

/** Returns a function that looks about once a second, and is true once the job has only waited for input for a while. */
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

/** Returns when there is something new to look at: output, a line that counts as whole now, the end, or the deadline. */
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

/** The match with some lines before it, and everything after it that fits. `line` counts from the character `from`. */
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

/** Line ends before a place. */
function countLines(text: string, upTo: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < upTo; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
