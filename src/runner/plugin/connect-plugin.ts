import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import {
  APP_PROTOCOL_VERSION,
  CLIENT_CERT_KEY,
  COOKIE_KEY,
  COOKIE_VALUE,
  PROTOCOL_VERSIONS_KEY,
  SOCKET_DIR_KEY,
} from '../../protocol/plugin/environment.ts';
import { parseHandshake, quote } from '../../protocol/plugin/handshake-line.ts';
import { type DialTarget, dialPinned, type Pair } from '../../protocol/plugin/pinned-tls.ts';
import { adoptSocket } from './host-broker.ts';
import { LiveConnection, type PluginConnection } from './plugin-connection.ts';
import { describeEnd, type PluginOptions, PluginOutput, type PluginProcess } from './plugin-process.ts';

/** Milliseconds to wait for the last output of a dead process. */
const LAST_WORDS_MS = 200;

/** The environment variables that a tool's process must have so that it can be connected to. */
export function pluginEnvironment(
  options: Pick<PluginOptions, 'certificate' | 'insideSocketDir'>,
): Record<string, string> {
  return {
    [COOKIE_KEY]: COOKIE_VALUE,
    [PROTOCOL_VERSIONS_KEY]: String(APP_PROTOCOL_VERSION),
    [CLIENT_CERT_KEY]: options.certificate.certificate,
    [SOCKET_DIR_KEY]: options.insideSocketDir,
  };
}

/**
 * The host's side of go-plugin's handshake, core protocol 1: reads the one line that the process prints, dials its
 * socket with both certificates pinned and waits for its health check. Throws TOOL_CRASHED if the process ends, does
 * not answer in time or prints something that cannot be trusted, and VERSION_MISMATCH if it speaks another version; the
 * process is dead then. The message quotes what it printed, unscrubbed.
 */
export async function connectPlugin(process: PluginProcess, options: PluginOptions): Promise<PluginConnection> {
  const output = new PluginOutput(process, options.onOutput);
  const limit = watchStart(process, options.startTimeoutMs);
  try {
    const connection = await open(process, options, output, limit.failed);
    output.started();
    return connection;
  } catch (thrown) {
    await process.kill().catch((cause: unknown) => options.logger.error('plugin.kill_failed', {}, cause));
    throw await explain(thrown, output);
  } finally {
    limit.lift();
  }
}

async function open(
  process: PluginProcess,
  options: PluginOptions,
  output: PluginOutput,
  failed: Promise<never>,
): Promise<PluginConnection> {
  const line = await Promise.race([output.firstLine, failed]);
  const expected = { socketDir: options.insideSocketDir, appVersions: [APP_PROTOCOL_VERSION] };
  const { appVersion, socketName, certificate } = parseHandshake(line, expected);
  const path = await adoptSocket(socketName, { socketDir: process.socketDir, privateDir: options.privateDir });
  const pair = { own: options.certificate, peer: certificate.raw };
  const connection = new LiveConnection({ process, options, appVersion, path, pair, target: dial(path, pair) });
  try {
    await Promise.race([connection.begin(), failed]);
    return connection;
  } catch (thrown) {
    await connection.release();
    throw thrown;
  }
}

/** A certificate can be well formed and still be unusable for TLS. */
function dial(path: string, pair: Pair): DialTarget {
  try {
    return dialPinned(path, pair);
  } catch (cause) {
    throw new ContextdError('TOOL_CRASHED', 'the tool did not start: its certificate cannot be used', { cause });
  }
}

/** `failed` rejects if the process ends or the time is over. */
function watchStart(process: PluginProcess, timeoutMs: number): { failed: Promise<never>; lift(): void } {
  let timer: NodeJS.Timeout | undefined;
  const failed = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(notStarted(`it was not ready within ${timeoutMs} ms`)), timeoutMs);
    void process.exited.then((exit) => reject(notStarted(`${describeEnd(exit)} before it was ready`)));
  });
  failed.catch(() => {});
  return { failed, lift: () => clearTimeout(timer) };
}

/** The process is dead: what it printed on stderr is the best reason there is. */
async function explain(thrown: unknown, output: PluginOutput): Promise<unknown> {
  if (!(thrown instanceof ContextdError)) return thrown;
  await within(LAST_WORDS_MS, output.ended, () => null);
  const { lastWords } = output;
  if (lastWords === '') return thrown;
  return new ContextdError(thrown.code, `${thrown.message}; the last it wrote to stderr: ${quote(lastWords)}`, {
    ...(thrown.remedy === undefined ? {} : { remedy: thrown.remedy }),
    details: { ...thrown.details, stderr: lastWords },
    cause: thrown,
  });
}

function notStarted(reason: string): ContextdError {
  return new ContextdError('TOOL_CRASHED', `the tool did not start: ${reason}`);
}
