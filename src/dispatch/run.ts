import { parseSessionKey } from '../call/session.ts';
import type { Config } from '../config/schema.ts';
import { ContextdError } from '../core/errors.ts';
import type { ToolFailure } from '../protocol/tool-output.ts';
import type { CallFacts } from '../runner/call-facts.ts';
import type { Runner } from '../runner/runner.ts';
import type { IsolationReport } from '../sandbox/sandbox.ts';
import type { SessionStore } from '../stores/sessions.ts';
import { EMPTY_OUTCOME, type Outcome, type VerifiedCall } from './call.ts';
import type { OpenedInput } from './open-secrets.ts';
import { type ProgressDeps, progressOf } from './progress.ts';

export interface RunDeps extends ProgressDeps {
  runner: Runner;
  sessions: SessionStore;
  config: Pick<Config, 'output'>;
}

/** Step 5: the tool runs in its process, under its policy and deadline. A tool that failed is an outcome, not a throw. */
export async function run(
  call: VerifiedCall,
  { input, opened }: OpenedInput,
  isolation: IsolationReport,
  deps: RunDeps,
  onFacts: (facts: CallFacts) => void,
): Promise<Outcome> {
  const progress = progressOf(call, opened, deps);
  const ran = deps.runner.run({
    requestId: call.requestId,
    session: parseSessionKey(call.sessionKey),
    tool: call.tool.manifest.name,
    origin: call.tool.origin,
    profile: call.tool.manifest.profile,
    bundleSha256: call.tool.bundleSha256,
    bundleDir: call.tool.bundleDir,
    input,
    etagKey: deps.sessions.etagKey(call.sessionKey),
    timeoutMs: call.options.timeoutMs,
    outputMaxBytes: deps.config.output.max_bytes,
    outputKillBytes: deps.config.output.kill_bytes,
    grants: call.tool.manifest.grants,
    signal: call.request.signal,
    onFacts,
    ...(progress === null ? {} : { onCommand: () => progress.listen() }),
  });
  const { output, firstPass, durationMs, ...facts } = await ran
    .catch((thrown: unknown) => {
      throw endOf(call.request.signal, ContextdError.from(thrown));
    })
    .finally(() => progress?.stop());
  const { quarantined, searchComplete, denied, hostCalls, shows } = facts;
  const { failure } = output;
  return {
    ...EMPTY_OUTCOME,
    data: output.data,
    streams: output.streams ?? [],
    namedBy: call.tool.origin,
    failure: failure === undefined ? null : endOf(call.request.signal, toolFailure(failure)),
    warnings: output.warnings ?? [],
    quarantined,
    searchComplete,
    denied,
    hostCalls,
    shows,
    runMs: Math.round(durationMs * 10) / 10,
    droppedBytes: output.droppedBytes ?? 0,
    firstPass,
    isolationMissing: isolation.missing,
  };
}

/** A call that the daemon itself ended says why; a tool knows only that it was cancelled. */
function endOf({ reason }: AbortSignal, failure: ContextdError): ContextdError {
  const isOurs = reason instanceof ContextdError && reason.code === 'INTERRUPTED';
  return isOurs && failure.code === 'CANCELLED' ? reason : failure;
}

function toolFailure({ code, message, remedy, details }: ToolFailure): ContextdError {
  return new ContextdError(code, message, {
    ...(remedy === undefined ? {} : { remedy }),
    ...(details === undefined ? {} : { details }),
  });
}
