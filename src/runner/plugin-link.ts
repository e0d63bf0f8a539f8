import { Client } from '@grpc/grpc-js';
import type { Clock } from '../core/clock.ts';
import { within } from '../core/deadline.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { MOUNTED_GIT_DANGERS, PROTECTED_NAMES, PROTECTED_PLACES } from '../guard/table/protected-names.ts';
import type { PluginProtocol } from '../protocol/plugin/load-plugin-protocol.ts';
import { WireFault } from '../protocol/wire-bounds.ts';
import type { SandboxProcess } from '../sandbox/contract/sandbox.ts';
import { createHostServer, type HostServerDeps } from './host-server.ts';
import { connectPlugin } from './plugin/connect-plugin.ts';
import type { PluginConnection } from './plugin/plugin-connection.ts';
import type { HostCertificate } from './plugin/plugin-process.ts';
import type { RunnerConfig } from './runner.ts';
import { ToolClient } from './tool-client.ts';

export interface LinkDeps {
  project: string;
  protocol: Pick<PluginProtocol, 'ToolPlugin' | 'ToolHost'>;
  certificate: HostCertificate;
  privateSocketsDir: string;
  insideSocketDir: string;
  logger: Logger;
  clock: Clock;
  config: RunnerConfig;
}

/** A tool process that is connected and has described its tools. */
export interface PluginLink {
  connection: PluginConnection;
  client: ToolClient;
  tools: ReadonlySet<string>;
}

/**
 * Connects a started process and gives it ToolHost. Throws TOOL_CRASHED, or VERSION_MISMATCH naming both versions; the
 * process is dead then.
 */
export async function linkPlugin(
  process: SandboxProcess,
  deps: LinkDeps,
  host: Omit<HostServerDeps, 'protocol' | 'logger'>,
): Promise<PluginLink> {
  const deadline = deps.clock.monotonic() + deps.config.startDeadlineMs;
  const connection = await connect(process, deps);
  try {
    return await describe(connection, deadline, deps, createHostServer({ ...host, ...deps }));
  } catch (thrown) {
    await process.kill();
    await connection.stop();
    throw thrown instanceof WireFault ? brokeProtocol(thrown.message) : ContextdError.from(thrown);
  }
}

function connect(process: SandboxProcess, deps: LinkDeps): Promise<PluginConnection> {
  const { config, certificate, privateSocketsDir, insideSocketDir, logger } = deps;
  const printed = new PrintedLog(deps.project, logger);
  return connectPlugin(process, {
    privateDir: privateSocketsDir,
    insideSocketDir,
    certificate,
    startTimeoutMs: config.startDeadlineMs,
    brokerTimeoutMs: config.brokerDeadlineMs,
    graceMs: config.stopGraceMs,
    onOutput: (channel, data) => printed.add(channel, data),
    logger,
  });
}

async function describe(
  connection: PluginConnection,
  deadline: number,
  { clock, config, protocol }: LinkDeps,
  hostServer: ReturnType<typeof createHostServer>,
): Promise<PluginLink> {
  const hostId = connection.broker.nextId();
  await connection.broker.serve(hostId, hostServer);
  const client = new ToolClient(connection.client(Client), protocol);
  const asked = client.describe({ host_service_id: hostId, protected_paths: [...PROTECTED_PATHS] });
  const tools = await within(Math.max(1, deadline - clock.monotonic()), asked, () => {
    throw crashed(`it did not start within ${config.startDeadlineMs} ms`);
  });
  return { connection, client, tools: new Set(tools) };
}

const LINES_MAX = 100;
const TEXT_MAX_CHARS = 4_096;

/**
 * Logs what a tool process prints, masked by the logger: the first hundred pieces of a process, each at most 4,096
 * characters. Nobody else reads it, because printing is not an answer.
 */
class PrintedLog {
  readonly #project: string;
  readonly #logger: Logger;
  #lines = 0;

  constructor(project: string, logger: Logger) {
    this.#project = project;
    this.#logger = logger;
  }

  add(channel: 'stdout' | 'stderr', data: Buffer): void {
    this.#lines += 1;
    if (this.#lines > LINES_MAX) return;
    const printed = data
      .subarray(0, 4 * TEXT_MAX_CHARS)
      .toString('utf8')
      .slice(0, TEXT_MAX_CHARS);
    const isLast = this.#lines === LINES_MAX;
    this.#logger.warn('tool.printed', { project: this.#project, channel, printed, ...(isLast ? { last: true } : {}) });
  }
}

export const SEE_LOGS = 'If the problem persists, see `ctxd server logs`.';
/** The remedy for a call without effects. */
export const CALL_AGAIN = `Call again: a new process is started. ${SEE_LOGS}`;

export function crashed(reason: string): ContextdError {
  return new ContextdError('TOOL_CRASHED', `the tool process ended while it was needed: ${reason}`, {
    remedy: CALL_AGAIN,
  });
}

export function brokeProtocol(reason: string): ContextdError {
  return new ContextdError(
    'TOOL_CRASHED',
    `the tool process was ended, because it broke the tool protocol: ${reason}`,
    {
      remedy:
        'Ask for less at once: the same call will probably fail again. The author of the tool can return large data as text. See `ctxd server logs`.',
    },
  );
}

export function describeExit(code: number | null, signal: string | null): string {
  return signal === null ? `it exited with code ${code}` : `${signal} killed it`;
}

/**
 * Names that a tool process may not write, at any depth. Mounts and the search after a run use the same names. A name
 * that does not exist yet cannot be mounted over, so a tool that writes files refuses it by name; everything else it
 * creates is checked after the call.
 */
export const PROTECTED_PATHS: readonly string[] = [
  ...PROTECTED_NAMES,
  ...PROTECTED_PLACES,
  ...MOUNTED_GIT_DANGERS.filter((name) => name !== 'info').map((name) => `.git/${name}`),
  '.git/modules',
  '.git/worktrees',
];
