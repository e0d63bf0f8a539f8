import { Server } from '@modelcontextprotocol/server';
import { ContextdError } from '../core/errors.ts';
import type { Surface } from '../core/surfaces.ts';
import { PACKAGE_VERSION } from '../protocol/versions.ts';
import { failureResult } from './call-result.ts';
import { type NextTaken, progressOf } from './progress.ts';
import { SURFACE_VIEWS } from './surfaces/surface-views.ts';
import type { McpTools } from './tools.ts';

export interface ServerTraits {
  surface: Surface;
  /** The client gets a notification when the list of tools changes. */
  isAnnouncing: boolean;
  /** For a transport that queues without limit what it sends. Default: its `send` waits for the client. */
  nextTaken?: NextTaken;
}

/** A server of one connection, or of one request over HTTP. The SDK speaks both eras of the protocol. */
export function createMcpServer(
  tools: McpTools,
  { surface, isAnnouncing, nextTaken = async () => {} }: ServerTraits,
): Server {
  const view = SURFACE_VIEWS[surface];
  const server = new Server(
    { name: 'contextd', title: 'contextd', version: PACKAGE_VERSION },
    { capabilities: { tools: isAnnouncing ? { listChanged: true } : {} }, instructions: view.instructions },
  );
  server.setRequestHandler('tools/list', async (_request, context) => {
    return { tools: await view.list(tools, context.mcpReq.signal) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const progress = progressOf(context, nextTaken);
    try {
      const { signal } = context.mcpReq;
      const onProgress = progress && ((text: string) => progress.push(text));
      return await view.call({ name: params.name, args: params.arguments ?? {}, signal, onProgress }, tools);
    } catch (thrown) {
      return failureResult(ContextdError.from(thrown));
    } finally {
      progress?.end();
    }
  });
  return server;
}
