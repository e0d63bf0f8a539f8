import {
  CLIENT_CAPABILITIES_META_KEY,
  type HandlerResultTypeMap,
  type InputRequiredResult,
  isCallToolResult,
  isInputRequiredResult,
  isSpecType,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  type RequestMethod,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { isAskedMethod, McpError, type McpMessage, type PassedRequest, type PassingClient } from '../core/passing.ts';
import { PACKAGE_VERSION } from '../protocol/versions.ts';
import { failureResult } from './call-result.ts';
import { PASSTHROUGH_SURFACE } from './surfaces/passthrough-surface.ts';
import { bytesOf } from './surfaces/surface-view.ts';
import type { McpTool, McpTools } from './tools.ts';

/** What passes requests on to the servers of a project. Everything throws McpError or ContextdError. */
export interface PassingPort {
  /** Calls a tool of a server. Its result may ask for input. */
  call(tool: Pick<McpTool, 'toolId'>, args: JsonObject, request: PassedRequest): Promise<JsonObject>;
  request(request: PassedRequest): Promise<JsonObject>;
}

/** Milliseconds for a person to answer a question of a server. */
export const ANSWER_MS = 600_000;

/**
 * A server whose tools, resources and prompts are those of other servers, as they are. `session`: the name of the session of a
 * client of an older revision; '' for a client that has none.
 */
export function createPassthroughServer(tools: McpTools, port: PassingPort, session: string): Server {
  const isSession = session !== '';
  const changes = { listChanged: true };
  const server = new Server(
    { name: 'contextd', title: 'contextd', version: PACKAGE_VERSION },
    {
      capabilities: {
        tools: changes,
        resources: { ...changes, ...(isSession ? { subscribe: true } : {}) },
        prompts: changes,
        completions: {},
        logging: {},
      },
      instructions: PASSTHROUGH_SURFACE.instructions,
    },
  );
  const passedOn = (method: string, params: object | undefined, context: ServerContext): PassedRequest => ({
    method,
    params: paramsOf(params, context),
    client: clientOf(server, session, context),
    signal: context.mcpReq.signal,
    notify: (message) => void context.mcpReq.notify(withToken(message, context)).catch(() => {}),
  });
  server.setRequestHandler('tools/list', async (_request, { mcpReq }) => {
    return { tools: await PASSTHROUGH_SURFACE.list(tools, mcpReq.signal) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const args = isJsonObject(params.arguments) ? params.arguments : {};
    const { signal } = context.mcpReq;
    try {
      const listed = await tools.find(params.name, signal);
      if (listed === undefined || listed.toolId === '')
        return await PASSTHROUGH_SURFACE.call({ name: params.name, args, signal }, tools);
      const result = await port.call(listed, args, passedOn('tools/call', params, context));
      // The SDK checks it by the schema of the revision.
      if (isInputRequiredResult(result) || isCallToolResult(result)) return result;
      throw notOfMethod('tools/call');
    } catch (thrown) {
      if (thrown instanceof McpError) throw new ProtocolError(thrown.code, thrown.message, thrown.data);
      return failureResult(ContextdError.from(thrown));
    }
  });
  const pass = <M extends RequestMethod>(
    method: M,
    isResult: (value: unknown) => value is HandlerResultTypeMap[M],
  ): void =>
    server.setRequestHandler(method, async ({ params }, context) => {
      try {
        const result: unknown = await port.request(passedOn(method, params, context));
        if (isResult(result)) return result;
      } catch (thrown) {
        throw protocolError(thrown);
      }
      throw notOfMethod(method);
    });
  pass('resources/list', isSpecType.ListResourcesResult);
  pass('resources/templates/list', isSpecType.ListResourceTemplatesResult);
  pass('resources/read', orAsks(isSpecType.ReadResourceResult));
  pass('prompts/list', isSpecType.ListPromptsResult);
  pass('prompts/get', orAsks(isSpecType.GetPromptResult));
  pass('completion/complete', isSpecType.CompleteResult);
  if (isSession) {
    pass('resources/subscribe', isSpecType.EmptyResult);
    pass('resources/unsubscribe', isSpecType.EmptyResult);
    pass('logging/setLevel', isSpecType.EmptyResult);
  }
  return server;
}

/** A server may ask for input in place of the result. */
function orAsks<T>(isResult: (value: unknown) => value is T): (value: unknown) => value is T | InputRequiredResult {
  return (value): value is T | InputRequiredResult => isInputRequiredResult(value) || isResult(value);
}

function notOfMethod(method: string): ProtocolError {
  return new ProtocolError(-32_603, `the MCP server answered ${method} with something else`);
}

/** What the SDK lifted out of the parameters goes back to where it was. */
function paramsOf(params: object | undefined, { mcpReq }: ServerContext): JsonObject {
  // The version is the one that contextd speaks with the server.
  const { [PROTOCOL_VERSION_META_KEY]: _, ...envelope } = envelopeOf(mcpReq);
  const meta = { ...mcpReq._meta, ...envelope };
  const state = mcpReq.requestState();
  const whole = {
    ...params,
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    ...(mcpReq.inputResponses === undefined ? {} : { inputResponses: mcpReq.inputResponses }),
    ...(state === undefined ? {} : { requestState: state }),
  };
  return JSON.parse(bytesOf(whole).toString('utf8'));
}

/** Its keys have no types in the SDK. */
function envelopeOf({ envelope }: ServerContext['mcpReq']): Readonly<Record<string, unknown>> {
  return { ...envelope };
}

function clientOf(server: Server, session: string, { mcpReq }: ServerContext): PassingClient {
  const { [PROTOCOL_VERSION_META_KEY]: revision, [CLIENT_CAPABILITIES_META_KEY]: declared } = envelopeOf(mcpReq);
  return {
    key: session,
    isLegacy: revision === undefined,
    // A client of the newest revision says with each request what it can.
    capabilities: JSON.parse(JSON.stringify(declared ?? server.getClientCapabilities() ?? {})),
    async ask({ method, params }, signal) {
      if (!isAskedMethod(method)) throw new McpError(-32_601, 'a client is not asked for this');
      if (session === '') throw new McpError(-32_601, 'the client cannot be asked without a session');
      const answer = await mcpReq.send({ method, params }, { signal, timeout: ANSWER_MS }).catch((thrown: unknown) => {
        throw thrown instanceof ProtocolError ? new McpError(thrown.code, thrown.message, thrown.data) : thrown;
      });
      return JSON.parse(JSON.stringify(answer));
    },
    notify: ({ method, params }) => void server.notification({ method, params }).catch(() => {}),
  };
}

/** Progress is that of the request of the client, whose token a server never sees. */
function withToken({ method, params }: McpMessage, { mcpReq }: ServerContext): { method: string; params: JsonObject } {
  const progressToken = mcpReq._meta?.progressToken;
  const isProgress = method === 'notifications/progress' && progressToken !== undefined;
  return { method, params: isProgress ? { ...params, progressToken } : params };
}

function protocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof McpError) return new ProtocolError(thrown.code, thrown.message, thrown.data);
  const { code, message, remedy } = ContextdError.from(thrown);
  return new ProtocolError(-32_603, remedy === undefined ? message : `${message}. ${remedy}`, { error_code: code });
}
