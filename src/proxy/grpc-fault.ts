import { ContextdError, ERROR_TABLE, type ErrorCode } from '../core/errors.ts';
import { CODE_TRAILER, REMEDY_TRAILER } from '../protocol/trailers.ts';

/** What a gRPC status means for a call that was sent. Those that are not named are INTERNAL_ERROR. */
const CODE_OF_STATUS: Readonly<Partial<Record<number, ErrorCode>>> = {
  1: 'CANCELLED',
  4: 'TIMEOUT',
  7: 'PERMISSION_DENIED',
  8: 'PAYLOAD_TOO_LARGE',
  10: 'INTERRUPTED',
  12: 'VERSION_MISMATCH',
  14: 'INTERRUPTED',
  16: 'AUTH_FAILED',
};

const REMEDIES: Readonly<Partial<Record<ErrorCode, string>>> = {
  INTERRUPTED: 'It may have run: look at what it was to change before you call again.',
  PAYLOAD_TOO_LARGE: 'Give large data as a file in the project and its path in the input.',
  VERSION_MISMATCH: 'Run `ctxd server restart`, so that daemon and tools are of one version.',
};

/** The error that trailers with a status other than OK stand for. */
export function readFault(status: number, message: string, trailers: ReadonlyMap<string, string>): ContextdError {
  const named = trailers.get(CODE_TRAILER);
  const code = isErrorCode(named) ? named : (CODE_OF_STATUS[status] ?? 'INTERNAL_ERROR');
  const sent = trailers.get(REMEDY_TRAILER);
  const remedy = sent === undefined ? REMEDIES[code] : Buffer.from(sent, 'base64').toString('utf8');
  const sentence = message === '' ? `the daemon ended the call with gRPC status ${status}` : message;
  return new ContextdError(code, sentence, { remedy: remedy ?? 'See `ctxd server logs` for the cause.' });
}

function isErrorCode(name: string | undefined): name is ErrorCode {
  return name !== undefined && Object.hasOwn(ERROR_TABLE, name);
}
