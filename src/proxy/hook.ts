import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json.ts';
import { MESSAGE_MAX_BYTES } from '../core/limits.ts';
import { singleLine } from '../core/own-line.ts';
import { PROTOCOL_VERSION } from '../protocol/versions.ts';
import { callDaemon } from './call-daemon.ts';
import { resolvePlaces } from './environment.ts';
import { ask } from './exchange.ts';
import { failureAnswer } from './hook-failure.ts';
import { hookFormOf } from './hook-forms.ts';
import { checkLink } from './invocation.ts';
import { ANSWER_HOOK_PATH, decodeHookAnswer, encodeHookRequest } from './messages.ts';
import type { Result } from './output.ts';
import { type Call, daemonSource } from './run.ts';

/** Milliseconds for the whole hook, less than `ctxd init` has clients wait: they show the output of a hook that takes longer. */
const HOOK_LIMIT_MS = 50_000;
/** Bytes of a message beside the event. */
const CONTEXT_MAX_BYTES = 64 * 1024;

/**
 * The program `contextd-hook`: answers one event of an agent's client, which comes as JSON on standard input. Whatever fails,
 * it prints an answer that shows nothing, because a client goes on with the original output if a hook fails.
 */
export async function answerHook(call: Omit<Call, 'onForm' | 'onHandedOver'>): Promise<Result> {
  const given = await readAll(process.stdin);
  const form = hookFormOf(call.invocation.args[0]);
  const input = form === null ? given : Buffer.from(JSON.stringify(form.read(eventIn(given))));
  let answer: string;
  try {
    answer = await askDaemon(call, input);
  } catch (thrown) {
    answer = failureAnswer(eventIn(input), describe(thrown));
  }
  if (form !== null && answer !== '') answer = JSON.stringify(form.write(eventIn(Buffer.from(answer))));
  const stdout = Buffer.from(answer === '' ? '' : `${answer}\n`);
  return { form: 'json', stdout, stderr: Buffer.alloc(0), exitCode: 0 };
}

async function askDaemon(call: Omit<Call, 'onForm' | 'onHandedOver'>, input: Buffer): Promise<string> {
  const { invocation, installation, environment } = call;
  if (input.length > MESSAGE_MAX_BYTES - CONTEXT_MAX_BYTES)
    throw new ContextdError('PAYLOAD_TOO_LARGE', `it has ${input.length} bytes, the limit is ${MESSAGE_MAX_BYTES}`, {
      remedy: 'Read or write it in parts, with safe_read or safe_bash.',
    });
  const link = checkLink(invocation, installation.proxyPath, environment.path);
  const places = resolvePlaces(environment);
  const limit = AbortSignal.timeout(HOOK_LIMIT_MS);
  const signal = AbortSignal.any([call.signal, limit]);
  const message = (requestId: string): Buffer =>
    encodeHookRequest({
      requestId,
      projectRoot: link.projectRoot,
      sessionId: environment.sessionId,
      branch: environment.branch,
      protocolVersion: PROTOCOL_VERSION,
      door: 'own',
      eventJson: input,
    });
  try {
    return await callDaemon({ ...daemonSource(call, places), signal }, (channel, requestId) =>
      ask(channel, { path: ANSWER_HOOK_PATH, message: message(requestId), decode: decodeHookAnswer }, places, signal),
    );
  } catch (error) {
    if (!limit.aborted) throw error;
    throw new ContextdError('TIMEOUT', `the daemon did not answer within ${HOOK_LIMIT_MS / 1000} seconds`, {
      remedy: 'It may be busy: call again. If it stays so, run `ctxd server restart`.',
    });
  }
}

async function readAll(stdin: NodeJS.ReadStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** An empty event if the text is no JSON object: no client sends that, and nothing can be said about it. */
function eventIn(input: Buffer): JsonObject {
  try {
    const event: unknown = JSON.parse(input.toString('utf8'));
    return isJsonObject(event) ? event : {};
  } catch {
    return {};
  }
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof ContextdError)) return singleLine(thrown instanceof Error ? thrown.message : String(thrown));
  return singleLine(`${thrown.message}. ${thrown.remedy ?? ''}`.trim());
}
