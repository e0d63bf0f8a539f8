import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { packError, unpackError } from '#src/core/wire-error.js';
import { encodeMessage, MessageDecoder } from '#src/sandbox/contract/spawner-messages.js';

const message = fc.record({
  id: fc.nat(),
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

test('messages survive any split of the stream', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.nat(400)), (messages, cuts) => {
      const stream = Buffer.concat(messages.flatMap(({ id, body }) => encodeMessage({ op: 'kill', id }, body)));
      const got: { id: unknown; body: Buffer }[] = [];
      const decoder = new MessageDecoder((header, body) => got.push({ id: header.id, body: Buffer.from(body) }));
      let at = 0;
      for (const cut of cuts) {
        decoder.push(stream.subarray(at, at + cut));
        at = Math.min(stream.length, at + cut);
      }
      decoder.push(stream.subarray(at));
      expect(got).toEqual(messages);
    }),
  );
});

test('an error is sent with its code, remedy and details, and its cause as text', () => {
  const error = new ContextdError('PATH_NOT_FOUND', 'no x', {
    remedy: 'make x',
    details: { x: 1 },
    cause: new Error('why'),
  });
  const copy = unpackError(packError(error));
  expect(copy).toMatchObject({ code: 'PATH_NOT_FOUND', message: 'no x', remedy: 'make x', details: { x: 1 } });
  expect(String(copy.cause)).toContain('why');
});

test('an unexpected error is sent as INTERNAL_ERROR, with its text only as the cause', () => {
  const copy = unpackError(packError(new TypeError('secret text')));
  expect(copy.code).toBe('INTERNAL_ERROR');
  expect(copy.message).not.toContain('secret text');
  expect(String(copy.cause)).toContain('secret text');
});
