import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { createCertificate } from '#src/protocol/plugin/certificate.js';
import { formatHandshake, HANDSHAKE_MAX_BYTES, parseHandshake } from '#src/protocol/plugin/handshake-line.js';
import { checkSocketPath, socketNameIn } from '#src/protocol/plugin/socket-path.js';

const EXPECTED = { socketDir: '/run/tool', appVersions: [1] };
const { der } = createCertificate(Date.now());
const CERT = der.toString('base64').replace(/=+$/, '');

function failure(line: string): ContextdError {
  try {
    parseHandshake(line, EXPECTED);
  } catch (thrown) {
    if (thrown instanceof ContextdError) return thrown;
    throw thrown;
  }
  throw new Error(`it was taken: ${line}`);
}

describe('a handshake line', () => {
  it('is read back', () => {
    const line = formatHandshake(1, '/run/tool/plugin1', der);
    expect(line).toBe(`1|1|unix|/run/tool/plugin1|grpc|${CERT}\n`);
    const { appVersion, socketName, certificate } = parseHandshake(line, EXPECTED);
    expect({ appVersion, socketName }).toEqual({ appVersion: 1, socketName: 'plugin1' });
    expect(certificate.raw).toEqual(der);
  });

  it('may say whether it supports multiplexing, which is not used', () => {
    for (const multiplex of [true, false]) {
      const line = formatHandshake(1, '/run/tool/plugin1', der, multiplex);
      expect(line.endsWith(`|${multiplex}\n`)).toBe(true);
      expect(parseHandshake(line, EXPECTED).socketName).toBe('plugin1');
    }
  });

  it('names both versions if the version differs', () => {
    expect(failure(`2|1|unix|/run/tool/p|grpc|${CERT}`)).toMatchObject({
      code: 'VERSION_MISMATCH',
      message: expect.stringMatching(/version 2 .* contextd version 1$/),
    });
    expect(failure(`1|7|unix|/run/tool/p|grpc|${CERT}`)).toMatchObject({
      code: 'VERSION_MISMATCH',
      message: expect.stringMatching(/version 7 .* contextd version 1$/),
    });
  });

  it.each([
    ['hello', 'instead of its handshake'],
    ['1|1|unix', 'instead of its handshake'],
    ['', 'instead of its handshake'],
    [`one|1|unix|/run/tool/p|grpc|${CERT}`, 'core protocol version "one"'],
    [`1|-1|unix|/run/tool/p|grpc|${CERT}`, 'application protocol version "-1"'],
    [`1|9999999999|unix|/run/tool/p|grpc|${CERT}`, 'application protocol version'],
    [`1|1|tcp|127.0.0.1:80|grpc|${CERT}`, 'network "tcp"'],
    [`1|1|unix|/run/tool/p|netrpc|${CERT}`, 'speaks "netrpc"'],
    [`1|1|unix|/run/tool/p`, 'speaks ""'],
    ['1|1|unix|/run/tool/p|grpc', 'no certificate'],
    ['1|1|unix|/run/tool/p|grpc|', 'no certificate'],
    [`1|1|unix|/run/tool/p|grpc|${CERT}|true|more`, '8 fields'],
    [`1|1|unix|/run/docker.sock|grpc|${CERT}`, '/run/docker.sock'],
    [`1|1|unix|/run/tool/../docker.sock|grpc|${CERT}`, 'not a plain name'],
    [`1|1|unix|/run/tool/..|grpc|${CERT}`, 'not a plain name'],
    [`1|1|unix|/run/tool/|grpc|${CERT}`, 'not a plain name'],
    [`1|1|unix|/run/tool/a/b|grpc|${CERT}`, 'not a plain name'],
    [`1|1|unix|/run/tool2/p|grpc|${CERT}`, 'not a plain name'],
    [`1|1|unix|\0abstract|grpc|${CERT}`, 'not a plain name'],
    [`1|1|unix|/run/tool/p\0|grpc|${CERT}`, 'not a plain name'],
    ['1|1|unix|/run/tool/p|grpc|not base64', 'not base64'],
    [`1|1|unix|/run/tool/p|grpc|${CERT}==`, 'not base64'],
    ['1|1|unix|/run/tool/p|grpc|AAAA', 'not X.509'],
    [`1|1|unix|/run/tool/p|grpc|${der.subarray(0, -7).toString('base64').replace(/=+$/, '')}`, 'not X.509'],
    [
      `1|1|unix|/run/tool/p|grpc|${Buffer.concat([der, Buffer.alloc(9)])
        .toString('base64')
        .replace(/=+$/, '')}`,
      'followed',
    ],
  ])('is refused: %j', (line, says) => {
    expect(failure(line)).toMatchObject({ code: 'TOOL_CRASHED', message: expect.stringContaining(says) });
  });

  it('is refused for another host', () => {
    // The name occurs twice with the same length: as common name and as alternative name.
    const stranger = Buffer.from(der.toString('latin1').replaceAll('localhost', 'elsewhere'), 'latin1');
    expect(failure(formatHandshake(1, '/run/tool/p', stranger)).message).toContain('not for localhost');
  });

  it('gives a handshake or an error of limited length, whatever is printed', () => {
    const field = fc.oneof(
      fc.constantFrom('1', '2', 'unix', 'grpc', '/run/tool/p', CERT, ''),
      fc.string(),
      fc.string({ unit: 'binary', maxLength: HANDSHAKE_MAX_BYTES }),
    );
    fc.assert(
      fc.property(fc.array(field, { maxLength: 9 }), (fields) => {
        try {
          expect(parseHandshake(fields.join('|'), EXPECTED).certificate.raw).toEqual(der);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ContextdError);
          expect(String(thrown).length).toBeLessThan(2_000);
        }
      }),
    );
  });
});

describe('the path of a socket', () => {
  it('names an entry of the directory itself or nothing', () => {
    const part = fc.constantFrom('/run/tool', '/', '..', '.', 'p', 'plugin1', '\0', ' ', '//', 'a/b');
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(part).map((parts) => parts.join('/')),
        ),
        (address) => {
          const name = socketNameIn('/run/tool/', address);
          if (name === undefined) return;
          expect(`/run/tool/${name}`).toBe(address);
          expect(name).toMatch(/^[^/\0]+$/);
          expect(['.', '..']).not.toContain(name);
        },
      ),
    );
    expect(socketNameIn('/run/tool/', '/run/tool/plugin-1.sock')).toBe('plugin-1.sock');
    expect(socketNameIn('/run//tool', '/run/tool/p')).toBe('p');
  });

  it('is refused with the limit if it is too long for the system', () => {
    expect(checkSocketPath(`/${'x'.repeat(90)}`)).toHaveLength(91);
    expect(() => checkSocketPath(`/${'x'.repeat(107)}`)).toThrow('has 108 bytes');
  });
});
