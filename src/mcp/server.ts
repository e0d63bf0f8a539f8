import { Server } from '@modelcontextprotocol/server';
import { ContextdError } from '../core/errors.ts';
import { PACKAGE_VERSION } from '../protocol/versions.ts';
import { callResult, failureResult } from './call-result.ts';
import { type NextTaken, progressOf } from './progress.ts';
import { toolEntry } from './tool-entry.ts';
import type { McpTools } from './tools.ts';

/** Every client puts them into its prompt once. What a tool itself says is not repeated. */
export const INSTRUCTIONS = `Tools that run in a sandbox of the project. Output is scrubbed, kept whole and cut to a budget.
Every tool takes these options too: max_tokens, view (such as {"grep":"error"} or {"tail":20}), timeout_ms, branch, dry_run.
A line [contextd … rest: TOOL {"continuation":"N"}] says how to read on: call that tool with this argument alone.
[SECRET_n] stands for a masked secret.`;

export interface ServerTraits {
  /** The client gets a notification when the list of tools changes. */
  isAnnouncing: boolean;
  /** For a transport that queues without limit what it sends. Default: its `send` waits for the client. */
  nextTaken?: NextTaken;
}

/** A server of one connection, or of one request over HTTP. The SDK speaks both eras of the protocol. */
export function createMcpServer(tools: McpTools, { isAnnouncing, nextTaken = async () => {} }: ServerTraits): Server {
  const server = new Server(
    { name: 'contextd', title: 'contextd', version: PACKAGE_VERSION },
    { capabilities: { tools: isAnnouncing ? { listChanged: true } : {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', async (_request, context) => {
    const listed = await tools.list(context.mcpReq.signal);
    return { tools: listed.map(toolEntry) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const progress = progressOf(context, nextTaken);
    try {
      const inputJson = inputOf(params.arguments ?? {});
      const { signal } = context.mcpReq;
      const onProgress = progress && ((text: string) => progress.push(text));
      return callResult(await tools.call({ tool: params.name, inputJson, signal, onProgress }));
    } catch (thrown) {
      return failureResult(ContextdError.from(thrown));
    } finally {
      progress?.end();
    }
  });
  return server;
}

/** A continuation stands alone, but a client may insist on the arguments that the schema requires. */
function inputOf(given: Readonly<Record<string, unknown>>): Buffer {
  const { continuation } = given;
  return Buffer.from(stringified(continuation === undefined ? given : { continuation }));
}

function stringified(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new ContextdError('ARGS_INVALID', 'the arguments are nested too deeply', {
      remedy: 'Pass a flatter value, or put it into a file of the workspace and pass its path.',
      cause,
    });
  }
}
