import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AnswerForm } from '../core/envelope.ts';
import { ContextdError, isErrno } from '../core/errors.ts';
import { singleLine } from '../core/own-line.ts';
import { SHELL_PROGRAM } from '../core/shell-names.ts';
import { PACKAGE_VERSION, PROTOCOL_VERSION } from '../protocol/versions.ts';
import { type CallRequest, parseArguments } from './arguments.ts';
import { callDaemon } from './call-daemon.ts';
import type { Send } from './call-one.ts';
import { isSocketForbidden } from './connect.ts';
import {
  daemonEnvironment,
  type Places,
  type ProxyEnvironment,
  readSandboxClient,
  resolvePlaces,
} from './environment.ts';
import { exchange } from './exchange.ts';
import { readInput } from './input.ts';
import {
  checkLink,
  checkPlace,
  checkProgram,
  type Installation,
  type Invocation,
  nameOf,
  SELF_NAME,
  type ToolLink,
} from './invocation.ts';
import { type ExecuteResponse, encodeExecuteRequest } from './messages.ts';
import type { Result } from './output.ts';
import { runningLine } from './running-line.ts';
import type { DaemonSource } from './start.ts';
import { unreadInput } from './unread-input.ts';

export interface Call {
  invocation: Invocation;
  environment: ProxyEnvironment;
  installation: Installation;
  requestId: string;
  /** Aborted by SIGINT and SIGTERM. */
  signal: AbortSignal;
  /** Called once the form of the answer is known. */
  onForm(form: AnswerForm): void;
  /** Called when the call goes to the daemon, which records it from then on. Until then the proxy records refusals. */
  onHandedOver(): void;
}

/** Runs the program, from the command line to the output. Throws ContextdError. */
export async function run(call: Call): Promise<Result> {
  const { invocation, installation, environment } = call;
  if (nameOf(invocation) === SELF_NAME) return describeSelf(invocation, installation);
  const link = checkLink(invocation, installation.proxyPath, environment.path);
  const request = await parseArguments(invocation.args, link);
  if (request.kind === 'version') return textResult(`${link.tool} (contextd ${PACKAGE_VERSION})\n`);
  if (request.kind === 'print') return printFile(link, request.file);
  return request.out === null ? callTool(call, link, request) : callAndSave(call, link, request, request.out);
}

/** Output if the program is called by its own name, which is not a tool. */
function describeSelf({ args, program }: Invocation, { proxyPath }: Installation): Result {
  // `ctxd doctor` asks for the version, and must learn that every call would be refused.
  checkProgram(program, proxyPath);
  if (args.length === 1 && args[0] === '--version') return textResult(`${SELF_NAME} ${PACKAGE_VERSION}\n`);
  throw new ContextdError('ARGS_INVALID', `${SELF_NAME} is called by the name of a tool, not by its own`, {
    remedy: 'Run `ctxd init` in a project and call .claude/tools/<name>/<name>.',
  });
}

/** The file itself, never what a link below `.claude` leads to: a repository may have placed the link. */
function printFile({ toolDir, tool }: ToolLink, file: string): Result {
  const path = join(toolDir, file);
  try {
    const own = join(realpathSync(dirname(dirname(toolDir))), 'tools', tool, file);
    if (realpathSync(path) === own && statSync(own).isFile())
      return { form: 'text', stdout: readFileSync(own), stderr: NOTHING, exitCode: 0 };
  } catch (error) {
    if (!isErrno(error)) throw error;
  }
  throw new ContextdError('NOT_FOUND', `${path} is missing or cannot be read`, {
    remedy: 'Run `ctxd init` in the project to create it again.',
  });
}

/** The code for `--out` is loaded only if it is needed. */
async function callAndSave(call: Call, link: ToolLink, request: CallRequest, out: string): Promise<Result> {
  const { saveAnswer } = await import('./out-answer.ts');
  const { requestId, installation } = call;
  return saveAnswer({ out, link, requestId, rankFile: installation.rankFile }, () => callTool(call, link, request));
}

async function callTool(call: Call, link: ToolLink, asked: CallRequest): Promise<Result> {
  const { inputJson, inputText, form: natural } = await readInput(asked, link, call.signal);
  const form = asked.form ?? natural;
  call.onForm(form);
  const cwd = currentDirectory();
  checkPlace(call.invocation, link, cwd);
  const places = resolvePlaces(call.environment);
  const request = (requestId: string, isAskedAgain: boolean): Buffer =>
    encodeExecuteRequest({
      tool: link.tool,
      inputJson,
      requestId,
      projectRoot: link.projectRoot,
      sessionId: call.environment.sessionId,
      branch: call.environment.branch,
      protocolVersion: PROTOCOL_VERSION,
      form,
      cwd,
      inputText,
      door: 'own',
      isAskedAgain,
    });
  call.onHandedOver();
  const running = asked.progress ? undefined : runningLine(call.environment.term);
  const onProgress = asked.progress ? (await import('./output.ts')).progressWriter() : running?.onProgress;
  try {
    const send: Send<ExecuteResponse> = (channel, requestId, isAskedAgain) =>
      exchange(channel, request(requestId, isAskedAgain), places, call.signal, onProgress);
    const answered = await callDaemon(daemonSource(call, places), send, 'asks again');
    const result = toResult(answered, form);
    return { ...result, stderr: Buffer.concat([result.stderr, Buffer.from(unreadInput(asked.source))]) };
  } catch (error) {
    if (!isSocketForbidden(error)) throw error;
    throw await socketRemedy(error, call, link);
  } finally {
    running?.end();
  }
}

/** The error with what gets a tool out of the sandbox of the client around it. */
export async function socketRemedy(
  error: ContextdError,
  { invocation, environment }: Pick<Call, 'invocation' | 'environment'>,
  link: ToolLink,
): Promise<ContextdError> {
  const { withRemedy } = await import('./agent-sandbox.ts');
  const isShell = nameOf(invocation) === SHELL_PROGRAM;
  const called = { ...link, calledAs: invocation.calledAs, home: environment.home, isShell };
  return withRemedy(error, called, readSandboxClient());
}

/** The daemon of this installation. */
export function daemonSource(
  call: Pick<Call, 'installation' | 'environment' | 'requestId' | 'signal'>,
  places: Places,
): DaemonSource {
  return {
    places,
    launcher: call.installation.launcher,
    launchWords: ['serve', '--replaceable'],
    environment: daemonEnvironment(call.environment),
    nonce: call.requestId,
    signal: call.signal,
  };
}

function toResult(response: ExecuteResponse, form: AnswerForm): Result {
  const exitCode = Math.min(response.exitCode, 255);
  if (form === 'text') return { form, stdout: response.textStdout, stderr: response.textStderr, exitCode };
  const stdout = Buffer.concat([response.envelopeJson, NEWLINE]);
  const stderr = response.errorLine === '' ? NOTHING : Buffer.from(`${singleLine(response.errorLine)}\n`);
  return { form, stdout, stderr, exitCode };
}

export function textResult(text: string): Result {
  return { form: 'text', stdout: Buffer.from(text), stderr: NOTHING, exitCode: 0 };
}

const NOTHING = Buffer.alloc(0);
const NEWLINE = Buffer.from('\n');

/** The system's own path, without links: the daemon uses the project's root for a directory outside the project. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new ContextdError('PATH_NOT_FOUND', `the current directory cannot be found (${error.code})`, {
      remedy: 'Change to a directory that exists and call again.',
    });
  }
}
