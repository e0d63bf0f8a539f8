import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { afterSending } from '#src/upstream/faults.js';
import { mayHaveArrived, upstreamFault } from '#src/upstream/session-faults.js';

const answered = (status: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `HTTP ${status}`, { status, statusText: '' });

describe('issue 34: a call that a server may have got', () => {
  it.each([408, 502, 504])('is not repeated after HTTP %i, which says that it was passed on', (status) => {
    const thrown = answered(status);
    expect(mayHaveArrived(thrown)).toBe(true);
    expect(afterSending(upstreamFault('demo', thrown)).code).toBe('INTERRUPTED');
  });

  it.each([400, 401, 404, 429, 503])('may be made again after HTTP %i, with which a server refuses it', (status) => {
    expect(mayHaveArrived(answered(status))).toBe(false);
  });
});
