import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { PACKAGE_VERSION, PROTOCOL_VERSION } from '../protocol/versions.ts';
import { type InputSource, parseArguments } from './arguments.ts';
import { turnedDown } from './connect.ts';
import { daemonEnvironment, type ProxyEnvironment } from './environment.ts';
import { exchange } from './exchange.ts';
import { readInput } from './input.ts';
import type { Installation } from './installation.ts';
import { type Invocation, nameOf, SELF_NAME } from './invocation.ts';
import { checkLink, type ToolLink } from './link.ts';
import { type ExecuteResponse, encodeExecuteRequest } from './messages.ts';
import type { Result } from './output.ts';
import { type Places, resolvePlaces } from './places.ts';
import { type DaemonSource, reachDaemon } from './reach-daemon.ts';

export interface Call {
  invocation: Invocation;
  environment: ProxyEnvironment;
  installation: Installation;
  requestId: string;
  /** Aborted by SIGINT and SIGTERM. */
  signal: AbortSignal;
}

/** One run of the program, from the command line to what is to be printed. Throws ContextdError. */
export async function run(call: Call): Promise<Result> {
  const { invocation, installation, environment } = call;
  if (nameOf(invocation) === SELF_NAME) return describeSelf(invocation.args);
  const link = checkLink(invocation, installation.proxyPath, environment.path);
  const request = parseArguments(invocation.args, link.tool);
  if (request.kind === 'print') return printFile(join(link.toolDir, request.file));
  return callTool(call, link, request.input);
}

/** Called by its own name it is no tool. */
function describeSelf(args: readonly string[]): Result {
  if (args.length === 1 && args[0] === '--version') return textResult(`${SELF_NAME} ${PACKAGE_VERSION}\n`);
  throw new ContextdError('ARGS_INVALID', `${SELF_NAME} is called by the name of a tool, not by its own`, {
    remedy: 'Run `ctxd init` in a project and call .claude/tools/<name>/<name>.',
  });
}

function printFile(path: string): Result {
  try {
    if (statSync(path).isFile()) return { stdout: readFileSync(path), stderr: '', exitCode: 0 };
  } catch (error) {
    if (!isErrno(error)) throw error;
  }
  throw new ContextdError('NOT_FOUND', `${path} is missing or cannot be read`, {
    remedy: 'Run `ctxd init` in the project to make it again.',
  });
}

async function callTool(call: Call, link: ToolLink, source: InputSource): Promise<Result> {
  const inputJson = await readInput(source, link.tool, call.signal);
  const places = resolvePlaces(call.environment);
  const request = encodeExecuteRequest({
    tool: link.tool,
    inputJson,
    requestId: call.requestId,
    projectRoot: link.projectRoot,
    sessionId: call.environment.sessionId,
    protocolVersion: PROTOCOL_VERSION,
  });
  return toResult(await callDaemon(daemonSource(call, places), request));
}

/** A daemon that hangs up before anything was sent may be stopping: one more try finds or starts the next one. */
async function callDaemon(source: DaemonSource, request: Buffer): Promise<ExecuteResponse> {
  for (let tries = 0; tries < 2; tries++) {
    const channel = await reachDaemon(source);
    const response = await exchange(channel, request, source.places, source.signal);
    if (response !== undefined) return response;
  }
  throw turnedDown(source.places, 'it closes the connection');
}

function daemonSource(call: Call, places: Places): DaemonSource {
  return {
    places,
    launcher: call.installation.launcher,
    environment: daemonEnvironment(call.environment),
    nonce: call.requestId,
    signal: call.signal,
  };
}

function toResult(response: ExecuteResponse): Result {
  const stdout = Buffer.concat([response.envelopeJson, Buffer.from('\n')]);
  return { stdout, stderr: response.errorLine, exitCode: Math.min(response.exitCode, 255) };
}

function textResult(text: string): Result {
  return { stdout: Buffer.from(text), stderr: '', exitCode: 0 };
}
