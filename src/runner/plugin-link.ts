import { Client } from '@grpc/grpc-js';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { PluginProtocol } from '../protocol/plugin/load-plugin-protocol.ts';
import { WireFault } from '../protocol/wire-bounds.ts';
import type { SandboxProcess } from '../sandbox/sandbox.ts';
import { brokeProtocol, crashed } from './faults.ts';
import { createHostServer, type HostServerDeps } from './host-server.ts';
import { connectPlugin, type HostCertificate, type PluginConnection } from './plugin/connect-plugin.ts';
import { within } from './plugin/within.ts';
import { PrintedLog } from './printed-log.ts';
import { PROTECTED_PATHS } from './protected-paths.ts';
import type { RunnerConfig } from './runner-config.ts';
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

/** A tool process that was connected and has told its tools. */
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
  const tools = await within(Math.max(1, deadline - clock.monotonic()), asked);
  if (tools === undefined) throw crashed(`it did not start within ${config.startDeadlineMs} ms`);
  return { connection, client, tools: new Set(tools) };
}
