import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextdError, ERROR_TABLE, type ErrorCode } from '#src/core/errors.js';
import { packHostFault, readRpcFault } from '#src/protocol/rpc-faults.js';
import { CODE_TRAILER, DETAILS_TRAILER, REMEDY_TRAILER } from '#src/protocol/trailers.js';

const CODES = Object.keys(ERROR_TABLE).filter((code): code is ErrorCode => code in ERROR_TABLE);

/** As the other end of the wire receives it. */
function arrive({ code = status.UNKNOWN, details = '', metadata }: Partial<StatusObject>): ServiceError {
  const headers = Object.entries((metadata ?? new Metadata()).toHttp2Headers()).map(([name, value]) => [
    name,
    String(value),
  ]);
  const received = Metadata.fromHttp2Headers(Object.fromEntries(headers));
  return Object.assign(new Error(`${code} ${details}`), { code, details, metadata: received });
}

describe('a fault of the host', () => {
  it('is the same at the other end: code, message, remedy, details', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CODES),
        fc.string({ minLength: 1 }),
        fc.string(),
        // JSON has no negative zero.
        fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
        (code, message, remedy, value) => {
          const fault = readRpcFault(
            arrive(packHostFault(new ContextdError(code, message, { remedy, details: { value } }))),
          );
          expect(fault).toMatchObject({ code, message, remedy, details: { value } });
        },
      ),
    );
  });

  it('is limited in size, because a header has little room', () => {
    const details = { text: 'x'.repeat(10_000) };
    const sent = packHostFault(
      new ContextdError('CONFLICT', 'm'.repeat(10_000), { remedy: 'r'.repeat(10_000), details }),
    );
    expect(sent.details).toHaveLength(1_000);
    expect(sent.metadata?.get(REMEDY_TRAILER)[0]).toHaveLength(1_000);
    expect(sent.metadata?.get(DETAILS_TRAILER)).toEqual([]);
  });

  it('does not send its cause', () => {
    const sent = packHostFault(new ContextdError('INTERNAL_ERROR', 'm', { cause: new Error('swordfish') }));
    expect(JSON.stringify([sent, sent.metadata?.toJSON()])).not.toContain('swordfish');
  });
});

describe('a gRPC error without a code of ours', () => {
  it.each([
    [status.PERMISSION_DENIED, 'PERMISSION_DENIED'],
    [status.UNIMPLEMENTED, 'NOT_IMPLEMENTED'],
    [status.UNAVAILABLE, 'INTERRUPTED'],
    [status.UNKNOWN, 'INTERNAL_ERROR'],
  ])('%i is %s', (code, ours) => {
    expect(readRpcFault(arrive({ code, details: 'd' }))).toMatchObject({ code: ours, message: 'd' });
  });

  it('reads an unknown code as INTERNAL_ERROR', () => {
    const metadata = new Metadata();
    metadata.set(CODE_TRAILER, 'toString');
    metadata.set(DETAILS_TRAILER, Buffer.from('['));
    expect(readRpcFault(arrive({ details: 'd', metadata }))).toMatchObject({ code: 'INTERNAL_ERROR', details: {} });
  });
});
