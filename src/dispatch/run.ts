import type { OpenedSecret } from '../call/outcome.ts';
import type { SessionRef } from '../call/session.ts';
import type { Config } from '../config/schema.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { ToolFailure } from '../protocol/tool-output.ts';
import type { RunFacts } from '../runner/call-facts.ts';
import { ProgressFeed } from '../runner/progress/progress-feed.ts';
import type { Release } from '../runner/progress/progress-window.ts';
import type { Runner } from '../runner/runner.ts';
import type { IsolationReport } from '../sandbox/sandbox.ts';
import type { OwnLines, Scrubber, ScrubHints } from '../scrub/scrubber.ts';
import type { SessionStore } from '../stores/sessions.ts';
import { EMPTY_OUTCOME, type RawOutcome, type VerifiedCall } from './call.ts';
import { type OpenedInput, tokensToMask } from './open-secrets.ts';
import type { SecondSearch } from './scrub.ts';

export interface RunDeps extends ProgressDeps {
  runner: Runner;
  sessions: SessionStore;
  config: Pick<Config, 'output'>;
}

/** Step 5: runs the tool in its process, under its policy and deadline. A tool that fails is an outcome, not an exception. */
export async function run(
  call: VerifiedCall,
  { input, opened }: OpenedInput,
  isolation: IsolationReport,
  deps: RunDeps,
  onFacts: (facts: RunFacts) => void,
): Promise<RawOutcome> {
  const progress = progressOf(call, opened, deps);
  const ran = deps.runner.run({
    requestId: call.requestId,
    session: call.session,
    cwd: call.request.cwd,
    tool: call.tool.manifest.name,
    origin: call.tool.origin,
    profile: call.tool.manifest.profile,
    bundleSha256: call.tool.bundleSha256,
    bundleDir: call.tool.bundleDir,
    input,
    view: call.options.viewJson,
    etagKey: deps.sessions.etagKey(call.session),
    timeoutMs: call.options.timeoutMs,
    outputMaxBytes: deps.config.output.max_bytes,
    outputKillBytes: deps.config.output.kill_bytes,
    grants: call.tool.manifest.grants,
    opened: tokensToMask(opened),
    signal: call.request.signal,
    onFacts,
    ...(progress === null ? {} : { onCommand: () => progress.listen() }),
  });
  const { output, firstPass, durationMs, ...facts } = await ran
    .catch((thrown: unknown) => {
      throw endOf(call.request.signal, ContextdError.from(thrown));
    })
    .finally(() => progress?.stop());
  const { quarantined, denied, connections, warnings, searchComplete, hostCalls, shows, standardView } = facts;
  const { failure } = output;
  return {
    ...EMPTY_OUTCOME,
    data: output.data,
    streams: output.streams ?? [],
    namedBy: call.tool.origin,
    failure: failure === undefined ? null : endOf(call.request.signal, toolFailure(failure)),
    warnings: [...(output.warnings ?? []), ...warnings],
    quarantined,
    denied,
    connections,
    facts: {
      searchComplete,
      hostCalls,
      shows,
      standardView,
      runMs: Math.round(durationMs * 10) / 10,
      droppedBytes: output.droppedBytes ?? 0,
      isViewApplied: output.isViewApplied ?? false,
      isolationMissing: isolation.missing,
      secretsOpened: opened,
    },
    firstPass,
  };
}

/** If the daemon or a person ended the call, returns that reason: the tool only knows that it was cancelled. */
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

/** Streams what the call's commands print, scrubbed like the answer. Returns null if the caller did not ask for it. */
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
 * Scrubs parts of an output that still grows, as step 6 scrubs an answer. What is around a part is searched with it.
 * Returns the texts as they may leave, and the rules of the secrets in them. Throws SCRUB_FAILED.
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
