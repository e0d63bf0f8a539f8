import { ContextdError } from '../core/errors.ts';

export function crashed(reason: string): ContextdError {
  return new ContextdError('TOOL_CRASHED', `the tool process ended while it was needed: ${reason}`, {
    remedy: 'Call again: a new process is started. If it stays, see `ctxd server logs`.',
  });
}

export function brokeProtocol(reason: string): ContextdError {
  return crashed(`it broke the tool protocol: ${reason}`);
}

export function describeExit(code: number | null, signal: string | null): string {
  return signal === null ? `it exited with code ${code}` : `${signal} killed it`;
}
