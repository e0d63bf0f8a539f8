import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ContextdError, ERROR_TABLE, type ErrorCode } from '#src/core/errors.js';
import { toStatus } from '#src/doors/grpc/rpc.js';
import { GRPC_STATUS } from '#src/protocol/rpc-faults.js';
import { CODE_TRAILER, REMEDY_TRAILER } from '#src/protocol/trailers.js';

const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

it('every code has a failure status', () => {
  expect(Object.keys(GRPC_STATUS).sort()).toEqual([...CODES].sort());
  expect(Object.values(GRPC_STATUS)).not.toContain(status.OK);
});

it('the statuses that clients depend on are pinned', () => {
  expect(GRPC_STATUS).toMatchObject({
    ARGS_INVALID: 3,
    NOT_FOUND: 5,
    PERMISSION_DENIED: 7,
    INTERNAL_ERROR: 13,
    DAEMON_UNAVAILABLE: 14,
    AUTH_FAILED: 16,
  });
});

it('code, message and remedy are sent masked', () => {
  const error = new ContextdError('CONFLICT', 'the word is swordfish', { remedy: 'forget swordfish' });
  const sent = toStatus(error, (text) => text.replaceAll('swordfish', '[SECRET]'));
  expect(sent.details).toBe('the word is [SECRET]');
  expect(sent.metadata?.get(CODE_TRAILER)).toEqual(['CONFLICT']);
  expect(sent.metadata?.get(REMEDY_TRAILER).map(String)).toEqual(['forget [SECRET]']);
});

it('withholds text that cannot be masked', () => {
  const fails = (): string => {
    throw new Error('no rules');
  };
  const sent = toStatus(new ContextdError('CONFLICT', 'swordfish', { remedy: 'swordfish' }), fails);
  expect(JSON.stringify([sent.details, sent.metadata?.get(REMEDY_TRAILER).map(String)])).not.toContain('swordfish');
});

it('fits any text into a header', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 5000 }), fc.constantFrom(...CODES), (text, code) => {
      const sent = toStatus(new ContextdError(code, `${text}\ud800`, { remedy: text }), (same) => same);
      // grpc-js does the same; it throws on a lone surrogate.
      expect(encodeURI(sent.details ?? '').length).toBeLessThan(16_384);
    }),
  );
});
