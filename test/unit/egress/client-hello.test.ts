import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CLIENT_HELLO_MAX_BYTES, readClientHello } from '#src/egress/client-hello.js';
import { clientHello, inRecords, outerEch, serverNameList } from '../../helpers/client-hello.js';

const NAME = 'registry.example.com';
const HELLO = inRecords(clientHello({ serverNames: [NAME] }));
const WHOLE = { state: 'whole', serverName: NAME, isEncrypted: false };

describe('the ClientHello', () => {
  it('is read once its last byte is there, split at every byte', () => {
    for (let at = 0; at < HELLO.length; at += 1) {
      const part = readClientHello(HELLO.subarray(0, at));
      expect(part.state, `the first ${at} bytes`).toBe('more');
      if (part.state === 'more') expect(part.atLeast).toBeGreaterThan(at);
      if (part.state === 'more') expect(part.atLeast).toBeLessThanOrEqual(HELLO.length);
    }
    expect(readClientHello(HELLO)).toEqual(WHOLE);
  });

  it('is read from records of every size', () => {
    const message = clientHello({ serverNames: [NAME] });
    for (let size = 1; size <= message.length; size += 1)
      expect(readClientHello(inRecords(message, size)), `records of ${size} bytes`).toEqual(WHOLE);
  });

  it('is read in few attempts if the reader waits for atLeast, even from records of one byte', () => {
    const bytes = inRecords(clientHello({ serverNames: [NAME], extensions: [[21, Buffer.alloc(9_000)]] }), 1);
    let attempts = 0;
    let read = readClientHello(bytes.subarray(0, 0));
    for (; read.state === 'more'; attempts += 1) read = readClientHello(bytes.subarray(0, read.atLeast));
    expect(read).toEqual(WHOLE);
    expect(attempts).toBeLessThan(120);
  });

  it('is whole if bytes follow it', () => {
    expect(readClientHello(Buffer.concat([HELLO, Buffer.from('early data')]))).toEqual(WHOLE);
  });

  const CASES: [string, Buffer, object][] = [
    ['names the server in lower case', inRecords(clientHello({ serverNames: ['ReGistry.EXAMPLE.com'] })), WHOLE],
    ['may name no server', inRecords(clientHello({})), { ...WHOLE, serverName: null }],
    [
      'shows that it is encrypted',
      inRecords(clientHello({ serverNames: [NAME], isEncrypted: true })),
      { ...WHOLE, isEncrypted: true },
    ],
    [
      'issue 30.2.5: may have the outer form of ECH beside its visible name',
      inRecords(clientHello({ serverNames: [NAME], extensions: [[0xfe0d, outerEch()]] })),
      WHOLE,
    ],
    [
      'issue 30.2.5: names no server if only ECH does',
      inRecords(clientHello({ extensions: [[0xfe0d, outerEch()]] })),
      { ...WHOLE, serverName: null },
    ],
    ...[
      Buffer.from([1]),
      Buffer.concat([Buffer.from([2]), outerEch().subarray(1)]),
      outerEch(undefined, Buffer.alloc(0)),
      outerEch().subarray(0, -1),
      Buffer.concat([outerEch(), Buffer.alloc(1)]),
    ].map((content, index): [string, Buffer, object] => [
      `issue 30.2.5: shows ECH of another form, ${index}`,
      inRecords(clientHello({ serverNames: [NAME], extensions: [[0xfe0d, content]] })),
      { ...WHOLE, isEncrypted: true },
    ]),
    [
      'shows the extension of the drafts too',
      inRecords(clientHello({ serverNames: [NAME], extensions: [[0xffce, Buffer.alloc(3)]] })),
      { ...WHOLE, isEncrypted: true },
    ],
    [
      'may not name two servers in two extensions',
      inRecords(clientHello({ serverNames: [NAME, 'evil.example'] })),
      { state: 'bad' },
    ],
    [
      'may not name two servers in one extension',
      inRecords(
        clientHello({ rawServerName: Buffer.concat([serverNameList(NAME), serverNameList(NAME).subarray(2)]) }),
      ),
      { state: 'bad' },
    ],
    [
      'may not have a name of another type',
      inRecords(clientHello({ rawServerName: Buffer.from([0, 4, 1, 0, 1, 97]) })),
      { state: 'bad' },
    ],
    [
      'may not have an empty server name extension',
      inRecords(clientHello({ rawServerName: Buffer.alloc(0) })),
      { state: 'bad' },
    ],
    [
      'may not have extensions that end beyond it',
      inRecords(Buffer.concat([clientHello({}).subarray(0, -1), Buffer.alloc(0)])),
      { state: 'more' },
    ],
    ['is not plain HTTP', Buffer.from('GET / HTTP/1.1\r\n'), { state: 'bad', why: 'it does not speak TLS' }],
    ['is not SSH', Buffer.from('SSH-2.0-x\r\n'), { state: 'bad', why: 'it does not speak TLS' }],
    ['is not SSL 2', Buffer.from([0x80, 0x2e, 1, 0, 2]), { state: 'bad', why: 'it does not speak TLS' }],
    ['is not another TLS message', inRecords(Buffer.from([2, 0, 0, 2, 3, 3])), { state: 'bad' }],
    ['is not in an empty record', Buffer.from([0x16, 3, 1, 0, 0]), { state: 'bad' }],
    [
      'is not longer than its limit',
      inRecords(Buffer.from([1, 1, 0, 0])),
      { state: 'bad', why: 'its ClientHello is too long' },
    ],
  ];
  for (const [title, bytes, expected] of CASES)
    it(title, () => {
      expect(readClientHello(bytes)).toMatchObject(expected);
    });

  it('is refused at its limit, also as a flood of tiny records', () => {
    const flood = inRecords(Buffer.concat([Buffer.from([1, 0, 0xff, 0]), Buffer.alloc(0xff00)]), 1);
    expect(readClientHello(flood.subarray(0, CLIENT_HELLO_MAX_BYTES + 1))).toMatchObject({ state: 'bad' });
  });

  it('is never read as another name after a change of its bytes without being whole, and reading never throws', () => {
    const mutated = fc.array(fc.tuple(fc.nat(HELLO.length - 1), fc.nat(255)), { maxLength: 8 }).map((changes) => {
      const bytes = Buffer.from(HELLO);
      for (const [at, value] of changes) bytes[at] = value;
      return bytes;
    });
    const anything = fc.oneof(
      mutated,
      fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(anything, (bytes) => {
        const read = readClientHello(bytes);
        expect(['more', 'bad', 'whole']).toContain(read.state);
        if (read.state === 'more') expect(read.atLeast).toBeGreaterThan(bytes.length);
      }),
    );
  });

  it.each(['bun-1.2', 'chromium'])('issue 30.2.5: as %s sent it, names the server in the open', (client) => {
    const text = readFileSync(join(import.meta.dirname, '../../fixtures/client-hellos', `${client}.hex`), 'latin1');
    const recorded = Buffer.from(text.replaceAll('\n', ''), 'hex');
    expect(recorded.includes(Buffer.from([0xfe, 0x0d]))).toBe(true);
    expect(readClientHello(recorded)).toEqual({ state: 'whole', serverName: 'localhost', isEncrypted: false });
  });
});
