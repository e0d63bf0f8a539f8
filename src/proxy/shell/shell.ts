import { spawn } from 'node:child_process';
import {
  closeSync,
  constants as fsConstants,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import { isWithin } from '../../core/paths.ts';
import { HOOK_PROGRAM, SHELL_PROGRAM } from '../../core/shell-names.ts';
import { shellWord } from '../../core/shell-quote.ts';
import { PACKAGE_VERSION, PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { callDaemon } from '../call-daemon.ts';
import type { Send } from '../call-one.ts';
import { isSocketForbidden } from '../connect.ts';
import { readShellEnvironment, resolvePlaces, type ShellEnvironment } from '../environment.ts';
import { exchange } from '../exchange.ts';
import { checkLink, findLink, type Invocation, type ToolLink } from '../invocation.ts';
import { isTerminal } from '../is-terminal.ts';
import { type ExecuteResponse, encodeExecuteRequest } from '../messages.ts';
import { lineOf, print, type Result } from '../output.ts';
import { type Call, currentDirectory, daemonSource, run, socketRemedy, textResult } from '../run.ts';
import { readShellWords, type ShellRequest } from './bash-arguments.ts';
import { unwrap, type WrappedCommand } from './claude-wrapper.ts';
import { inputOfFile } from './given-input.ts';
import type { LeftBehind, Part } from './left-behind.ts';
import { literalWords } from './literal-words.ts';
import { LiveOutput } from './live-output.ts';
import { unwrapCodex, unwrapGemini } from './other-wrappers.ts';

const NOTHING = Buffer.alloc(0);
/** Poll interval (ms) for the death of the client. */
const CLIENT_LOOK_MS = 1_000;

/**
 * The program as the shell of a client: runs what the client gives its shell as a call of safe_bash. No text selects anything
 * outside the sandbox; only a person's own terminal does. Throws ContextdError.
 */
export async function runAsShell(call: Call): Promise<Result> {
  call.onForm('text');
  const request = readShellWords(call.invocation.args);
  const around = readShellEnvironment();
  if (request.kind === 'version') return textResult(`GNU bash, in a sandbox of contextd ${PACKAGE_VERSION}\n`);
  if (request.kind === 'help') return textResult(HELP);
  if (request.kind === 'interactive' && isTerminal(0)) {
    if (!around.isOfClient) return ownShell(call, around);
    throw new ContextdError('ARGS_INVALID', 'an agent has no dialogue with this shell', {
      remedy: "Give it a command: contextd-sh -c 'COMMAND'.",
    });
  }
  const link = shellLink(call);
  const asked = commandOf(request, around);
  if (asked.command.trim() === '') return textResult('');
  const tool = toolCall(asked.command, link);
  if (tool !== null) return run({ ...call, invocation: { ...call.invocation, ...tool } });
  const response = await runText(withClient(call, around), link, asked, isMerged(around));
  return asked.directoryFile === null ? response.result : withDirectory(response, asked.directoryFile, link);
}

const HELP = `contextd-sh: the shell that contextd gives to coding agents (Claude Code, OpenCode).
It runs a command with bash in the sandbox of the project around it: secrets in the output are masked, and the call is recorded and can
be undone (ctxd undo).

  contextd-sh -c 'COMMAND'      run a command
  contextd-sh SCRIPT [WORD …]   run a script of the project
  contextd-sh < SCRIPT          run what standard input holds
  contextd-sh                   at a person's terminal: the person's own shell, outside the sandbox

To set it up in a project: \`ctxd init --shell\`. To take it back: \`ctxd init --no-shell\`.
`;

/** Ends the call when the client has died, such as by SIGKILL, as the end of a terminal ends its commands. */
function withClient(call: Call, { isOfClient }: ShellEnvironment): Call {
  if (!isOfClient) return call;
  const [client, gone] = [process.ppid, new AbortController()];
  setInterval(() => {
    if (process.ppid !== client) gone.abort('SIGHUP');
  }, CLIENT_LOOK_MS).unref();
  return { ...call, signal: AbortSignal.any([call.signal, gone.signal]) };
}

/** `.claude/tools/safe_bash/contextd-sh`: Claude Code takes a shell only if its path says `bash`. */
function shellLink({ invocation, installation, environment }: Call): ToolLink {
  const link = findLink(invocation.calledAs, environment.path) ?? invocation.calledAs;
  const beside = { ...invocation, calledAs: join(dirname(link), basename(dirname(link))) };
  return checkLink(beside, installation.proxyPath, environment.path);
}

interface Asked extends Pick<WrappedCommand, 'command' | 'variables'> {
  /** Null: the client does not ask where the command ends. */
  directoryFile: string | null;
  /** True: it runs on after the answer, as a job. Default: false. */
  isLeft?: true;
  /** The text of which the command is the first part. */
  wholeText?: string;
}

function commandOf(request: ShellRequest, around: ShellEnvironment): Asked {
  switch (request.kind) {
    case 'text':
      return commandIn(request.text, around);
    case 'as-it-stands':
      return plain(['bash', ...request.words].map(shellWord).join(' '));
    default:
      return plain(readFileSync(0, 'utf8'));
  }
}

/** The command without what the client put around it. */
function commandIn(text: string, { isClaude, isCodex, isGemini, temporary }: ShellEnvironment): Asked {
  if (isCodex) return plain(unwrapCodex(text) ?? text);
  if (isGemini) return plain(unwrapGemini(text) ?? text);
  return (isClaude ? unwrap(text, temporary) : null) ?? plain(text);
}

function plain(command: string): Asked {
  return { command, variables: {}, directoryFile: null };
}

/**
 * A command that is nothing but a call of a tool of this project becomes that call: in a sandbox there is no daemon to call. Null
 * for any other command.
 */
function toolCall(command: string, { projectRoot }: ToolLink): Pick<Invocation, 'calledAs' | 'args'> | null {
  const [name = '', ...args] = literalWords(command) ?? [];
  if (name === '' || [SHELL_PROGRAM, HOOK_PROGRAM].includes(basename(name))) return null;
  const claude = join(projectRoot, '.claude');
  const path = name.includes('/') ? resolve(currentDirectory(), name) : join(claude, 'bin', name);
  const tool = basename(path);
  const isLink = path === join(claude, 'bin', tool) || path === join(claude, 'tools', tool, tool);
  return isLink && isFile(path) ? { calledAs: path, args } : null;
}

interface Ran {
  result: Result;
  response: ExecuteResponse | null;
}

/**
 * What the shell would leave running becomes a job of the session. The parts of the text before it and behind it run at once, in their
 * order. Each output is shown when its part has ended.
 */
async function runText(call: Call, link: ToolLink, asked: Asked, isMerged: boolean): Promise<Ran> {
  const { parts, isLost } = await partsOf(asked.command);
  if (parts === null) {
    const ran = await runCommand(call, link, asked, isMerged);
    return isLost ? { ...ran, result: withLine(ran.result, LOST) } : ran;
  }
  let ran: Ran = { response: null, result: textResult('') };
  let seen: ExecuteResponse | null = null;
  for (const [index, part] of parts.entries()) {
    await print(ran.result);
    const next = index === 0 ? call : { ...call, requestId: newRequestId(Date.now()) };
    const command = commandOfPart(part, seen);
    // The rules for commands are applied to all of it before any part runs.
    const whole = index === 0 ? { wholeText: asked.command } : {};
    ran = await runCommand(
      next,
      link,
      { ...asked, ...whole, command, ...(part.isLeft ? { isLeft: true } : {}) },
      isMerged,
    );
    const { response, result } = ran;
    // A job that did not start, or a part that was refused.
    if (response === null || response.errorLine !== '' || (result.exitCode !== 0 && part.isLeft)) return ran;
    if (!part.isLeft) seen = response;
  }
  const isNumberAsked = parts.some(({ text, isLeft }) => !isLeft && NUMBER.test(text));
  return { result: isNumberAsked ? withLine(ran.result, NO_NUMBER) : ran.result, response: seen ?? ran.response };
}

/** The number of what `&` started last. */
const NUMBER = /\$!|\$\{!\}/;
const NO_NUMBER = '`$!` is empty: what `&` started is a job, which `safe_jobs` shows and ends';

/** The parser is loaded only for a text that may leave something running. */
async function partsOf(command: string): Promise<LeftBehind> {
  if (!/(?<![&|<>])&(?![&>])/.test(command)) return { parts: null, isLost: false };
  return (await import('./left-behind.ts')).readLeftBehind(command);
}

const LOST =
  'what `&` started in this command has ended with it. To keep it running, run `COMMAND &` by itself, as a command of its own';

/** What runs at once keeps the line numbers that it has in the text, which messages of the shell name. */
function commandOfPart({ text, isLeft, linesBefore, kept }: Part, seen: ExecuteResponse | null): string {
  const directory = seen?.directory ?? '';
  const setup = [...kept.setup, ...(kept.isElsewhere && directory !== '' ? [`cd ${shellWord(directory)}`] : [])];
  return `${'\n'.repeat(isLeft ? 0 : linesBefore)}${setup.map((one) => `${one}; `).join('')}${text}`;
}

function withLine(result: Result, text: string): Result {
  return { ...result, stderr: Buffer.concat([result.stderr, lineOf(text)]) };
}

async function runCommand(call: Call, link: ToolLink, asked: Asked, isMerged: boolean): Promise<Ran> {
  const places = resolvePlaces(call.environment);
  const inputJson = Buffer.from(JSON.stringify(await inputOf(asked)));
  const encoded = (requestId: string, isAskedAgain: boolean): Buffer =>
    encodeExecuteRequest({
      tool: link.tool,
      inputJson,
      inputText: NOTHING,
      requestId,
      projectRoot: link.projectRoot,
      sessionId: call.environment.sessionId,
      branch: call.environment.branch,
      protocolVersion: PROTOCOL_VERSION,
      form: 'text',
      cwd: currentDirectory(),
      door: 'shell',
      isMerged,
      isAskedAgain,
      ...(asked.wholeText === undefined ? {} : { wholeText: asked.wholeText }),
    });
  call.onHandedOver();
  const live = new LiveOutput(isMerged ? writeNow : null);
  try {
    const send: Send<ExecuteResponse> = (channel, requestId, isAskedAgain) =>
      exchange(channel, encoded(requestId, isAskedAgain), places, call.signal, (text) => live.add(text));
    const response = await callDaemon(daemonSource(call, places), send, 'asks again');
    const { textStdout, textStderr, exitCode } = response;
    const stdout = asked.isLeft && exitCode === 0 ? lineOf(textStdout.toString().trimEnd()) : live.rest(textStdout);
    return { response, result: { form: 'text', stdout, stderr: textStderr, exitCode: Math.min(exitCode, 255) } };
  } catch (thrown) {
    if (isSocketForbidden(thrown)) throw await socketRemedy(thrown, call, link);
    const signal = call.signal.reason;
    if (!call.signal.aborted || typeof signal !== 'string') throw thrown;
    // The client has ended the command. It shows what there was until then.
    const exitCode = 128 + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0);
    return { response: null, result: { form: 'text', stdout: live.held(), stderr: NOTHING, exitCode } };
  } finally {
    live.end();
  }
}

async function inputOf({ command, variables, isLeft }: Asked): Promise<object> {
  const stdin = isLeft ? '' : await inputOfFile(command);
  return {
    command,
    ...(Object.keys(variables).length === 0 ? {} : { env: variables }),
    ...(stdin === null ? {} : { stdin }),
    ...(isLeft ? { background: true } : {}),
  };
}

/** Writes the directory in which the command ended for the client, as a shell of its own would: after a success. */
function withDirectory({ result, response }: Ran, file: string, { projectRoot }: ToolLink): Result {
  if (response === null || result.exitCode !== 0) return result;
  const directory = response.directory === '' ? currentDirectory() : response.directory;
  if (isWithin(projectRoot, directory) && isDirectory(directory)) {
    writeNew(file, `${directory}\n`);
    return result;
  }
  writeNew(file, `${projectRoot}\n`);
  const note = `the next command starts in ${projectRoot}: ${directory} is outside the project`;
  return withLine(result, note);
}

/** Follows no link, because others can write to the directory too. */
function writeNew(file: string, text: string): void {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = fsConstants;
  const descriptor = openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes to standard output what its reader takes now. */
function writeNow(bytes: Buffer): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    if (isErrno(error)) return 0;
    throw error;
  }
}

/** A person's own terminal: the person's own shell. */
async function ownShell({ invocation }: Call, { ownShell: shell }: ShellEnvironment): Promise<Result> {
  const child = spawn(shell, invocation.args, { stdio: 'inherit', argv0: `-${basename(shell)}` });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.on('error', reject);
  child.on('close', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  return { form: 'text', stdout: NOTHING, stderr: NOTHING, exitCode: await promise };
}

/** True if the caller gets both streams as one text. OpenCode joins them itself. */
function isMerged({ isOpenCode }: ShellEnvironment): boolean {
  const [out, err] = [fstatSync(1), fstatSync(2)];
  return isOpenCode || (out.dev === err.dev && out.ino === err.ino);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    if (isErrno(error)) return false;
    throw error;
  }
}

function isDirectory(path: string): boolean {
  try {
    return realpathSync(path) === path && statSync(path).isDirectory();
  } catch (error) {
    if (isErrno(error)) return false;
    throw error;
  }
}
