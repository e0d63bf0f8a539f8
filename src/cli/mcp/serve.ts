import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { daemonEnvironment } from '../../config/env.ts';
import { ContextdError } from '../../core/errors.ts';
import { MESSAGE_MAX_BYTES } from '../../core/limits.ts';
import type { McpMessage } from '../../core/passing.ts';
import { DEFAULT_SURFACE, type Surface } from '../../core/surfaces.ts';
import { createPassthroughServer } from '../../mcp/passthrough-server.ts';
import { createMcpServer } from '../../mcp/server.ts';
import { resolvePlaces } from '../../proxy/environment.ts';
import type { CliContext } from '../context.ts';
import { currentProject, realOrGiven, resolveProjectRoot } from '../project-root.ts';
import { printable } from '../render.ts';
import { clientMessages } from './client-messages.ts';
import { DaemonCalls } from './daemon-calls.ts';
import { DaemonPassing } from './daemon-passing.ts';
import { DaemonTools } from './daemon-tools.ts';
import type { ServeOptions } from './serve-options.ts';

/**
 * Serves MCP on standard input and output until the client hangs up or a signal ends it. Throws RESOURCE_LIMIT for a message
 * that is too long: where the next one begins is not known without reading on.
 */
export async function serveMcp(context: CliContext, options: ServeOptions): Promise<void> {
  const { env, paths, stdin, stdout } = context;
  const ended = new AbortController();
  let server: Server | undefined;
  // In the revision of 2026 the SDK passes changes of lists on to those who listen only.
  const announce = (): void => void server?.sendToolListChanged().catch(() => {});
  const notify = ({ method, params }: McpMessage): void => {
    // `announce` says so when the list has really changed.
    if (method !== 'notifications/tools/list_changed') void server?.notification({ method, params }).catch(() => {});
  };
  const caller = {
    // Clients end every descendant of their servers, so a daemon must not be one: this program starts it and ends.
    launcher: paths.managementCli,
    launchWords: ['server', 'start'],
    environment: daemonEnvironment(env),
    places: resolvePlaces(env),
    project: await projectOf(context, options),
    session: options.session ?? env.sessionId ?? '',
    branch: env.branch ?? '',
    cwd: await realOrGiven(context.cwd),
    surface: options.surface ?? '',
    output: stdout,
  } as const;
  const calls = new DaemonCalls(caller, ended.signal);
  const tools = new DaemonTools(calls, announce);
  const surface = options.surface ?? (await surfaceOf(tools, context.signal));
  // Whatever waits for the client to read on listens.
  stdout.setMaxListeners(0);
  const messages = Readable.from(clientMessages(stdin, stdout), { objectMode: false });
  const transport = new StdioServerTransport(messages, stdout, { maxBufferSize: 2 * MESSAGE_MAX_BYTES });
  const hungUp = once(messages, 'close');
  const handle = serveStdio(
    ({ era }) => {
      server =
        surface === 'passthrough'
          ? createPassthroughServer(tools, new DaemonPassing(calls, notify), era === 'legacy' ? 'stdio' : '')
          : createMcpServer(tools, { surface, isAnnouncing: true });
      return server;
    },
    {
      transport,
      onerror(error) {
        // What ends the server is reported at its end.
        if (!(error instanceof ContextdError)) context.stderr.write(complaint(error));
      },
    },
  );
  try {
    await Promise.race([hungUp, aborted(context.signal)]);
  } finally {
    await handle.close();
    ended.abort();
    // A read that nothing answers would keep the process.
    stdin.destroy();
  }
}

/** Without a daemon the client gets a server all the same: its list and its calls say what is wrong. */
function surfaceOf(tools: DaemonTools, signal: AbortSignal): Promise<Surface> {
  return tools.surface(signal).catch(() => DEFAULT_SURFACE);
}

function projectOf(context: CliContext, { project }: ServeOptions): Promise<string> {
  if (project === undefined) return currentProject(context);
  return resolveProjectRoot(context.cwd, project, context.env.home, context.paths);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Clients keep what a server writes on standard error in a log. */
function complaint(error: Error): string {
  return `ctxd: ${printable(error.message)}\n`;
}
