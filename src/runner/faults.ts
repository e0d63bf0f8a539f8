import { ContextdError } from '../core/errors.ts';
import { FrameError } from '../protocol/frame-codec.ts';
import { TOOL_PROTOCOL_VERSION } from '../protocol/tool-frames.ts';

export function crashed(reason: string): ContextdError {
  return new ContextdError('TOOL_CRASHED', `the tool process ended while it was needed: ${reason}`, {
    remedy: 'Call again: a new process is started. If it stays, see `ctxd server logs`.',
  });
}

export function describeExit(code: number | null, signal: string | null): string {
  return signal === null ? `it exited with code ${code}` : `${signal} killed it`;
}

export function tooLarge(thrown: unknown, what: string): ContextdError {
  const reason = thrown instanceof FrameError ? thrown.message : 'it cannot be written';
  return new ContextdError('PAYLOAD_TOO_LARGE', `${what} cannot be carried: ${reason}`, {
    remedy: 'Ask for less at once.',
  });
}

export function versionMismatch(theirs: number): ContextdError {
  return new ContextdError(
    'VERSION_MISMATCH',
    `the tool speaks version ${theirs} of the tool protocol, the daemon version ${TOOL_PROTOCOL_VERSION}`,
    { remedy: 'Build the tool again with the SDK of the installed contextd, or reinstall contextd.' },
  );
}
