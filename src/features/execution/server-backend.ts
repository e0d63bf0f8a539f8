import type { SessionRef } from '../../call/session.ts';
import type { UpstreamProgram } from '../../call/tool-program.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { McpError, type PassedCall } from '../../core/passing.ts';
import type { ToolOutput } from '../../protocol/tool-output.ts';
import { NO_RUN_FACTS } from '../../runner/call-facts.ts';
import type { ToolBackend, ToolCall } from '../../runner/runner.ts';
import { failedRun } from '../../runner/tool-run.ts';
import { quotedForeign } from '../../text/foreign-line.ts';
import { oneLine } from '../../text/one-line.ts';
import type { UpstreamServers, UpstreamTool } from '../../upstream/contract.ts';
import { AnswerCache } from './answer-cache.ts';
import { definitionHash } from './definition-hash.ts';
import type { KeptPart } from './keep-part.ts';
import { type Attempts, attempted } from './retry.ts';
import { contentOf, type Keeping, outputOf } from './server-output.ts';

export interface ServerBackendDeps {
  servers: UpstreamServers;
  config: Pick<Config['gateway'], 'retry' | 'cache'>;
  /** Passes the call of an MCP client on, which gets the scrubbed answer from `passed`. Returns it as it came. */
  passOn(call: ServerCall, tool: UpstreamTool, passed: PassedCall): Promise<JsonObject>;
  /** Stores a part of a result as an artifact of the session, scrubbed, and returns its id. */
  keep(call: { session: SessionRef; requestId: string; tool: string }, part: KeptPart): Promise<string>;
  clock: Clock;
  timer: Timer;
  /** Between 0 and 1. */
  random(): number;
}

type ServerCall = ToolCall<UpstreamProgram>;

/** Characters of what a server says in an error (gateway surface §3.4). */
const ERROR_MAX_CHARS = 300;

/** The backend for tools of MCP servers. In this order (§4.5): an answer that was kept, the call with its further attempts, keeping the answer. */
export function createServerBackend(deps: ServerBackendDeps): ToolBackend<UpstreamProgram> {
  const cache = new AnswerCache(deps.config.cache, deps.clock);
  let isStopped = false;
  return {
    async start() {
      isStopped = false;
    },
    async stop() {
      isStopped = true;
      cache.clear();
    },
    async run(call) {
      const startedAt = deps.clock.monotonic();
      try {
        if (isStopped) throw new ContextdError('INTERRUPTED', `contextd stopped before ${call.tool} began`);
        const { output, isCacheHit, attempts } = await answer(call, cache, deps);
        const provenance = { ...(isCacheHit ? { isCacheHit } : {}), ...(attempts > 1 ? { attempts } : {}) };
        return {
          outcome: { output, firstPass: [], durationMs: deps.clock.monotonic() - startedAt },
          facts: { ...NO_RUN_FACTS, provenance },
        };
      } catch (thrown) {
        return failedRun(shortened(ContextdError.from(thrown)));
      }
    },
  };
}

async function answer(
  call: ServerCall,
  cache: AnswerCache,
  deps: ServerBackendDeps,
): Promise<{ output: ToolOutput; isCacheHit: boolean; attempts: number }> {
  const { project } = call.session;
  const { revision, byId } = await deps.servers.snapshot(project);
  const tool = byId.get(call.tool);
  if (tool === undefined || definitionHash(tool.definition) !== call.program.definitionSha256) throw changed(call.tool);
  // It is not tried again and never kept: the server may have asked the client.
  if (call.passed !== undefined)
    return { output: await passedOn(call, tool, call.passed, deps), isCacheHit: false, attempts: 1 };
  const key = cache.keyFor({ project, revision, call });
  const kept = key === null ? undefined : cache.get(key);
  if (kept !== undefined) return { output: kept, isCacheHit: true, attempts: 1 };
  const { value: result, attempts } = await attempted(attemptsOf(call, tool, deps), deps.config.retry, deps);
  const output =
    call.form === 'content' ? contentOf(call.tool, result) : await outputOf(call.tool, result, keeping(call, deps));
  if (key !== null) cache.put(key, output);
  return { output, isCacheHit: false, attempts };
}

async function passedOn(
  call: ServerCall,
  tool: UpstreamTool,
  passed: PassedCall,
  deps: ServerBackendDeps,
): Promise<ToolOutput> {
  try {
    const result = await deps.passOn(call, tool, passed);
    return await outputOf(call.tool, await recordedResult(result), keeping(call, deps));
  } catch (thrown) {
    if (!(thrown instanceof McpError)) throw thrown;
    throw new ContextdError(
      'UPSTREAM_ERROR',
      `the MCP server ${tool.server} answered with an error: ${quotedForeign(thrown.message, ERROR_MAX_CHARS)}`,
    );
  }
}

function keeping(call: ServerCall, { keep }: ServerBackendDeps): Keeping {
  return { keep: (part) => keep(call, part), signal: call.signal };
}

/** The result as it is stored. One that asks for input has no content. */
async function recordedResult(result: JsonObject): Promise<ServerResult> {
  // The session that gave the result has loaded the SDK; a daemon without servers does not.
  const { isCallToolResult } = await import('@modelcontextprotocol/client');
  return isCallToolResult(result) ? result : { content: [{ type: 'text', text: JSON.stringify(result) }] };
}

function attemptsOf(
  call: ServerCall,
  tool: UpstreamTool,
  { servers, clock }: ServerBackendDeps,
): Attempts<ServerResult> {
  const endsAt = clock.monotonic() + call.timeoutMs;
  const listener = call.onCommand?.();
  return {
    signal: call.signal,
    endsAt,
    start: () =>
      servers.call(call.session.project, {
        tool,
        args: call.input,
        signal: call.signal,
        timeoutMs: Math.max(1, Math.ceil(endsAt - clock.monotonic())),
        onProgress: ({ message, progress, total }) =>
          listener?.output(
            'stdout',
            Buffer.from(`${message ?? (total === undefined ? progress : `${progress}/${total}`)}\n`),
          ),
      }),
    end: () => listener?.ended(),
  };
}

type ServerResult = Awaited<ReturnType<UpstreamServers['call']>>;

function changed(id: string): ContextdError {
  return new ContextdError('HYDRATE_FAILED', `${id} was changed or removed by its server after it was looked up`, {
    remedy: 'Find it again with `tool_browse`.',
  });
}

/** What a server says may be long and hold lines. The whole of it is the log's. */
export function shortened(error: ContextdError): ContextdError {
  const { code, message, remedy, details, retryAfterMs } = error;
  return new ContextdError(code, oneLine(message, ERROR_MAX_CHARS), {
    ...(remedy === undefined ? {} : { remedy }),
    details,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    cause: error,
  });
}
