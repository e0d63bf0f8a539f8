import { joinFacts } from '../call/fact-operations.ts';
import { NO_FACTS, type OpenedSecret } from '../call/outcome.ts';
import type { SessionRef } from '../call/session.ts';
import type { Config } from '../config/schema.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { ToolFailure, ToolOutput } from '../protocol/tool-output.ts';
import { ProgressFeed } from '../runner/progress/progress-feed.ts';
import type { Release } from '../runner/progress/progress-window.ts';
import type { ToolBackend } from '../runner/runner.ts';
import type { IsolationReport } from '../sandbox/contract/sandbox.ts';
import type { OwnLines, Scrubber, ScrubHints } from '../scrub/scrubber.ts';
import type { SessionStore } from '../stores/sessions.ts';
import { EMPTY_OUTCOME, failedOutcome, type RawOutcome, type VerifiedCall } from './call.ts';
import { type CallerTools, callerWords } from './caller-words.ts';
import type { CarriedCalls } from './carried-call.ts';
import { warningsOfRun } from './coded-warnings.ts';
import { type OpenedInput, tokensToMask } from './open-secrets.ts';
import { reported } from './report-failure.ts';
import type { SecondSearch } from './scrub.ts';

export interface RunDeps extends ProgressDeps, CallerTools {
  runner: Pick<ToolBackend, 'run'>;
  sessions: SessionStore;
  /** The calls in step 5. */
  carried: Pick<CarriedCalls, 'own'>;
  config: Pick<Config, 'output'>;
}

/** Step 5: runs the tool in its process, under its policy and deadline. A call that fails is an outcome, not an exception. */
export async function run(
  call: VerifiedCall,
  { input, opened }: OpenedInput,
  isolation: IsolationReport,
  deps: RunDeps,
): Promise<RawOutcome> {
  const progress = progressOf(call, opened, deps);
  const running = deps.runner.run({
    requestId: call.requestId,
    session: call.session,
    cwd: call.request.cwd,
    tool: call.tool.manifest.name,
    origin: call.tool.origin,
    form: call.request.form,
    words: callerWords(call, deps),
    program: call.tool.program,
    input,
    view: call.options.viewJson,
    etagKey: deps.sessions.etagKey(call.session),
    timeoutMs: call.options.timeoutMs,
    outputMaxBytes: deps.config.output.max_bytes,
    outputKillBytes: deps.config.output.kill_bytes,
    ...(call.request.clientShell === undefined ? {} : { clientShell: call.request.clientShell }),
    effects: call.tool.manifest.effects,
    grants: call.tool.manifest.grants,
    opened: tokensToMask(opened),
    signal: call.request.signal,
    ...(call.request.passed === undefined ? {} : { passed: call.request.passed }),
    ...(progress === null ? {} : { onCommand: () => progress.listen() }),
  });
  const { outcome, facts: found } = await running.finally(() => progress?.stop());
  const facts = { ...found, isolation: call.tool.program.kind === 'host' ? null : isolation.level };
  const { signal } = call.request;
  // contextd itself chose the names of an answer that it made of a server's result.
  const isOwn = call.tool.origin === 'core' || call.tool.program.kind === 'upstream';
  const ownNames = isOwn ? call.tool.manifest.answerNames : null;
  if (outcome instanceof ContextdError)
    return { ...failedOutcome(reported(call, endOf(signal, outcome), deps), facts), ownNames };
  const { output, durationMs } = outcome;
  // A long output is searched by both processes at once, if no other call could want the processor. The step goes on, and with it
  // the slot, until the tool's has ended.
  const isEarly = outcome.firstPass instanceof Promise && deps.carried.own.length === 1;
  const early = isEarly ? deps.scrubber.searchEarly(call.session, textsOfOutput(output)) : null;
  const firstPass = await outcome.firstPass;
  if (firstPass instanceof ContextdError)
    return { ...failedOutcome(reported(call, endOf(signal, firstPass), deps), facts), ownNames };
  const { failure } = output;
  const returned = {
    ...NO_FACTS,
    warnings: output.warnings ?? [],
    codedWarnings: failure === undefined ? warningsOfRun(call, output.data) : NO_FACTS.codedWarnings,
    runMs: Math.round(durationMs * 10) / 10,
    droppedBytes: output.droppedBytes ?? 0,
    isViewApplied: output.isViewApplied ?? false,
    isolationMissing: isolation.missing,
  };
  return {
    ...EMPTY_OUTCOME,
    data: output.data,
    streams: output.streams ?? [],
    ownNames,
    failure: failure === undefined ? null : endOf(signal, toolFailure(failure)),
    facts: joinFacts(returned, facts),
    firstPass,
    early,
  };
}

/** As step 6 has them: what leaves begins with them. */
function textsOfOutput({ data, streams = [] }: ToolOutput): JsonObject {
  return { data, streams: streams.map(({ field, text }) => ({ field, text })) };
}

/** Returns the abort reason if the daemon or a person ended the call: the tool knows only that it was cancelled. */
function endOf({ reason }: AbortSignal, failure: ContextdError): ContextdError {
  const isOurs =
    reason instanceof ContextdError && (reason.code === 'INTERRUPTED' || reason.details.ended_by === 'person');
  return isOurs && failure.code === 'CANCELLED' ? reason : failure;
}

function toolFailure({ code, message, remedy, details }: ToolFailure): ContextdError {
  return new ContextdError(code, message, {
    ...(remedy === undefined ? {} : { remedy }),
    ...(details === undefined ? {} : { details }),
  });
}

interface ProgressDeps {
  scrubber: Scrubber;
  secondSearch: SecondSearch;
  logger: Logger;
}

/** Streams command output, scrubbed like the answer. Returns null if the caller did not ask for it. */
function progressOf(
  call: VerifiedCall,
  opened: readonly OpenedSecret[],
  { logger, ...search }: ProgressDeps,
): ProgressFeed | null {
  const { request, session } = call;
  const show = request.onProgress;
  if (show === undefined) return null;
  return new ProgressFeed({
    scrub: async (releases) =>
      (await scrubReleases(session, releases, { tool: request.tool, opened: tokensToMask(opened) }, search)).texts,
    show: (text) => show(text),
    later: (ms, action) => {
      const timer = setTimeout(action, ms);
      return () => clearTimeout(timer);
    },
    onFault: (thrown) => logger.warn('progress.stopped', { request_id: call.requestId, cause: String(thrown) }),
  });
}

/**
 * Scrubs parts of a growing output, as step 6 scrubs an answer. The text around a part is searched with it. Returns the
 * scrubbed texts and the rules of the secrets in them. Throws SCRUB_FAILED.
 */
export async function scrubReleases(
  session: SessionRef,
  releases: readonly Release[],
  hints: Pick<ScrubHints, 'tool' | 'opened' | 'ownLines'>,
  { scrubber, secondSearch }: Pick<ProgressDeps, 'scrubber' | 'secondSearch'>,
): Promise<{ texts: readonly string[]; rules: readonly string[]; ownLines: OwnLines }> {
  const texts = releases.map(({ before, text, after }) => `${before}${text}${after}`);
  const first = await scrubber.scrub(session, texts, { ...hints, margins: marginsOf(releases) });
  const missed = await secondSearch.missedIn(first.value);
  const rules = first.secrets.map(({ rule }) => rule);
  if (missed.length === 0) return { texts: first.value, rules, ownLines: first.ownLines };
  const again = await scrubber.scrubAgain(session, first.value, missed, { ownLines: first.ownLines });
  return { texts: again.value, rules: [...rules, ...again.secrets.map(({ rule }) => rule)], ownLines: again.ownLines };
}

function marginsOf(releases: readonly Release[]): Map<number, { before: number; after: number }> {
  return new Map(releases.map(({ before, after }, i) => [i, { before: before.length, after: after.length }]));
}
