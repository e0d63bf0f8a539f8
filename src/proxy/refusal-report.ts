import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type ContextdError, isErrno } from '../core/errors.ts';
import { PROTOCOL_VERSION } from '../protocol/versions.ts';
import { SERVER_NAME } from './channel.ts';
import { attemptConnection } from './connect.ts';
import { resolvePlaces } from './environment.ts';
import { runCall } from './exchange.ts';
import { findLink, type Invocation, nameOf } from './invocation.ts';
import { encodeRefusalReport, REPORT_REFUSAL_PATH } from './messages.ts';
import type { Call } from './run.ts';
import { UnaryCall } from './unary-call.ts';

/** The longest a report may take, milliseconds. Only a busy daemon uses it up; without a daemon no time passes. */
const REPORT_LIMIT_MS = 2_000;

/**
 * Reports a call that the proxy refused to the daemon, so that it is recorded too. Best effort: the answer has been
 * printed, no daemon is started for the report, and its errors are ignored. Nothing is saved for later: text that could
 * not be searched for secrets must not be on the disk.
 */
export async function reportRefusal(call: Omit<Call, 'signal'>, error: ContextdError): Promise<void> {
  try {
    const places = resolvePlaces(call.environment);
    const signal = AbortSignal.timeout(REPORT_LIMIT_MS);
    const attempt = await attemptConnection(places, signal);
    if (attempt.kind !== 'connected') return;
    const report = new UnaryCall(REPORT_REFUSAL_PATH, SERVER_NAME, reportOf(call, error));
    await runCall(attempt.channel, report, places, signal);
    attempt.channel.end();
  } catch {
    // The daemon is gone, not contextd, or too slow. The proxy has no log, and stderr belongs to the answer.
  }
}

function reportOf({ invocation, environment, requestId }: Omit<Call, 'signal'>, error: ContextdError): Buffer {
  return encodeRefusalReport({
    call: {
      tool: nameOf(invocation),
      inputJson: Buffer.from(JSON.stringify({ arguments: invocation.args })),
      requestId,
      projectRoot: projectOf(invocation, environment.path),
      sessionId: environment.sessionId,
      branch: environment.branch,
      protocolVersion: PROTOCOL_VERSION,
      form: 'json',
      cwd: '',
      inputText: Buffer.alloc(0),
      door: 'own',
    },
    errorCode: error.code,
    message: error.message,
    remedy: error.remedy ?? '',
    detailsJson: Buffer.from(JSON.stringify(error.details)),
  });
}

/** The project of the link, derived from its path; "" for a link that is in no `.claude`. */
function projectOf({ calledAs }: Invocation, searchPath: string): string {
  const link = findLink(calledAs, searchPath);
  if (link === undefined) return '';
  for (let directory = dirname(link); directory !== dirname(directory); directory = dirname(directory))
    if (basename(directory) === '.claude') return realPathOr(dirname(directory));
  return '';
}

function realPathOr(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
    return path;
  }
}
