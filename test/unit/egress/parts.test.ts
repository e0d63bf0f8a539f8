import { describe, expect, it } from 'vitest';
import { readAbsolute, readAuthority } from '#src/egress/http-head.js';
import { LOOKUPS_AT_ONCE, LOOKUPS_WAITING, REFUSALS_AT_ONCE, REFUSALS_PER_SECOND } from '#src/egress/limits.js';
import { LookUps } from '#src/egress/look-ups.js';
import { allowTarget, denial, refusalBytes } from '#src/egress/refusal.js';
import { RefusalMeter } from '#src/egress/refusal-meter.js';
import { whatIsSpoken } from '#src/egress/sniff.js';
import { readUpstream } from '#src/egress/upstream-proxy.js';

describe('the authority of a request', () => {
  it('is a host and a port in plain digits', () => {
    expect(readAuthority('a.example:443', null)).toEqual({ host: 'a.example', port: 443 });
    expect(readAuthority('a.example', 80)).toEqual({ host: 'a.example', port: 80 });
    expect(readAuthority('[::1]:443', null)).toEqual({ host: '[::1]', port: 443 });
  });

  for (const text of [
    '',
    'a',
    'a:',
    ':443',
    'a:0',
    'a:0443',
    'a:+443',
    'a:443.0',
    'a:65536',
    'a:443:443',
    'u@a:443',
    'a/b:443',
    'a?b:443',
    'a#b:443',
    'a b:443',
    'a\\b:443',
    '[::1:443',
    '::1:443',
    'a:443 ',
  ])
    it(`is not ${JSON.stringify(text)}`, () => {
      expect(readAuthority(text, null)).toBeNull();
    });

  it('is read from an absolute http address', () => {
    expect(readAbsolute('http://a.example/p?q')).toEqual({ authority: { host: 'a.example', port: 80 }, path: '/p?q' });
    expect(readAbsolute('HTTP://a.example:8080?q')).toEqual({
      authority: { host: 'a.example', port: 8080 },
      path: '/?q',
    });
    for (const url of [
      'https://a.example/',
      '/p',
      'http:///p',
      'http://u@a.example/',
      'http://a.example/#x',
      'http://a\\b/',
    ])
      expect(readAbsolute(url), url).toBeNull();
  });
});

describe('what a program speaks', () => {
  const TABLE: [text: string, spoken: string | null][] = [
    ['', null],
    ['\x16', 'tls'],
    ['S', null],
    ['SSH-2', null],
    ['SSH-2.0-x', 'ssh'],
    ['G.T', null],
    ['SSH-1.5-x\r\n', 'other'],
    ['GET / HTT', null],
    ['GET / HTTP/1.1', 'http'],
    ['\r\n\r\nGET / HTTP/1.1', 'http'],
    ['get /a b HTTP/1.1', 'http'],
    ['GET\t/\tHTTP/1.0', 'http'],
    [' \tGET / HTTP/1.1', 'http'],
    ['GET  HTTP/1.1', 'http'],
    ['PRIX * HTTP/2.0', 'http'],
    ['GET /\r\n', 'other'],
    ['PRI * HTTP/2.0', 'http2'],
    ['EHLO me\r\n', 'other'],
    ['\0', 'other'],
    ['*1\r\n$4\r\nPING\r\n', 'other'],
    ['GET\r/\rHTTP/1.1', 'http'],
    ['\v\fGET\v/\fHTTP/1.1', 'http'],
    [`${'A'.repeat(41)} / HTTP/1.1`, 'http'],
    [`GET /${'a'.repeat(16_384)}`, 'unclear'],
    [`${'\r\n'.repeat(8_192)}GET / HTTP/1.1`, 'unclear'],
    [`${'A'.repeat(16_384)} / HTTP/1.1`, 'unclear'],
    [`GET /${'a'.repeat(16_384)}\r\n`, 'unclear'],
    [`EHLO ${'a'.repeat(16_000)}\r\n${'b'.repeat(1_000)}`, 'other'],
    ['\x15', null],
    ['\x15\x03', 'tls'],
    ['\x15\x01', 'other'],
    ['\x14\x03\x01', 'tls'],
    ['\x17\x03\x03', 'tls'],
    ['\x18\x03\x03', 'tls'],
    ['\x13\x03', 'other'],
    ['\x80\x2e', null],
    ['\x80\x2e\x01', null],
    ['\x80\x2e\x01\x03\x01', 'tls'],
    ['\x80\x2e\x02', 'other'],
  ];
  for (const [text, spoken] of TABLE)
    it(`${JSON.stringify(text).slice(0, 30)} is ${spoken ?? 'not known yet'}`, () => {
      expect(whatIsSpoken(Buffer.from(text, 'latin1'))).toBe(spoken);
    });

  it('is found in time that grows with the bytes alone, whatever they are and however they come', () => {
    for (const text of [`A${' '.repeat(16_000)}`, '\r'.repeat(16_000), `A ${' HTTP'.repeat(3_200)}`]) {
      const data = Buffer.from(text);
      for (let end = 1; end < data.length; end += 16) whatIsSpoken(data.subarray(0, end));
      expect(whatIsSpoken(data)).toBeNull();
    }
  });
});

describe("the machine's own proxy", () => {
  const read = (url: string, ...noProxy: string[]) => readUpstream({ url, noProxy });

  it('is read with its password', () => {
    expect(read('http://u:p%40@proxy.example.com:3128').proxy).toMatchObject({
      host: 'proxy.example.com',
      port: 3128,
      authorization: 'Basic dTpwQA==',
    });
    expect(read('http://[::1]').proxy).toMatchObject({ host: '::1', port: 80, authorization: null });
    expect(readUpstream(null)).toEqual({ proxy: null, fault: null });
    for (const url of ['https://p.example', 'socks5://p.example', 'nonsense', 'http://'])
      expect(read(url).fault, url).not.toBeNull();
  });

  const TABLE: [entry: string, host: string, port: number, addresses: string[], bypasses: boolean][] = [
    ['*', 'a.example', 443, [], true],
    ['corp.example', 'corp.example', 443, [], true],
    ['corp.example', 'a.corp.example', 443, [], true],
    ['.corp.example', 'a.corp.example', 443, [], true],
    ['*.corp.example', 'a.corp.example', 443, [], true],
    ['CORP.example', 'a.corp.example', 443, [], true],
    ['corp.example', 'evilcorp.example', 443, [], false],
    ['corp.example:8443', 'corp.example', 8443, [], true],
    ['corp.example:8443', 'corp.example', 443, [], false],
    ['10.0.0.0/8', 'a.example', 443, ['10.1.2.3'], true],
    ['10.0.0.0/8', 'a.example', 443, ['11.1.2.3'], false],
    ['10.0.0.0/8', 'a.example', 443, [], false],
    ['192.0.2.1', 'a.example', 443, ['192.0.2.1'], true],
    ['fd00::/8', 'a.example', 443, ['fd00::1'], true],
    ['10.0.0.0/99', 'a.example', 443, ['10.0.0.1'], false],
    ['', 'a.example', 443, [], false],
  ];
  for (const [entry, host, port, addresses, bypasses] of TABLE)
    it(`${bypasses ? 'is bypassed' : 'is used'} by ${host}:${port} ${addresses.join('')} with ${entry || 'an empty entry'}`, () => {
      expect(read('http://p.example', entry).proxy?.bypasses(host, port, addresses)).toBe(bypasses);
    });
});

describe('look-ups of names', () => {
  it('are few at once, and connections to one name share one', async () => {
    const asked: string[] = [];
    const answers = new Map<string, (addresses: string[]) => void>();
    const lookUps = new LookUps((name) => {
      asked.push(name);
      return new Promise((resolve) => void answers.set(name, resolve));
    });
    const names = Array.from({ length: LOOKUPS_AT_ONCE + 1 }, (_, n) => `n${n}`);
    const found = [...names, 'n0'].map((name) => lookUps.find(name, 60_000));
    await Promise.resolve();
    expect(asked).toEqual(names.slice(0, -1));
    answers.get('n0')?.(['192.0.2.1']);
    expect(await found[0]).toEqual(['192.0.2.1']);
    expect(await found.at(-1)).toEqual(['192.0.2.1']);
    expect(asked).toEqual(names);
    for (const answer of answers.values()) answer([]);
    await Promise.all(found);
  });

  it('wait up to a limit, and no longer than a connection waits for them', async () => {
    const lookUps = new LookUps(() => new Promise(() => {}));
    const ask = (name: string, maxMs: number) => lookUps.find(name, maxMs).catch((cause: Error) => cause.message);
    for (let n = 0; n < LOOKUPS_AT_ONCE; n += 1) void ask(`running${n}`, 60_000);
    const waiting = Array.from({ length: LOOKUPS_WAITING }, (_, n) => ask(`n${n}`, 1));
    expect(await ask('one-more', 60_000)).toBe('too many other names wait to be looked up');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['looking its name up took too long']));
    const late = Array.from({ length: LOOKUPS_WAITING }, (_, n) => ask(`late${n}`, 1));
    expect(new Set(await Promise.all(late))).toEqual(new Set(['looking its name up took too long']));
  });

  it('that take too long are given up', async () => {
    const lookUps = new LookUps(() => new Promise(() => {}));
    await expect(lookUps.find('a', 1)).rejects.toThrow('looking its name up took too long');
  });

  it('that fail give their place back', async () => {
    const lookUps = new LookUps((name) => Promise.reject(new Error(name)));
    for (let n = 0; n < LOOKUPS_AT_ONCE * 2; n += 1)
      await expect(lookUps.find(`n${n}`, 60_000)).rejects.toThrow(`n${n}`);
  });
});

describe('a refusal', () => {
  it('says why, and how a person can allow it, in the reason phrase, the header and the body', () => {
    const refusal = denial({
      host: 'evil.example',
      port: 8443,
      why: 'no rule of this project allows it',
      isAllowable: true,
    });
    const text =
      'contextd refused evil.example:8443: no rule of this project allows it. A person can allow it: ctxd network allow evil.example:8443';
    expect(refusalBytes(refusal)).toBe(
      `HTTP/1.1 403 ${text}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${text.length + 1}\r\nX-Contextd-Denied: ${text}\r\nConnection: close\r\n\r\n${text}\n`,
    );
  });

  it('never breaks a line', () => {
    expect(denial({ host: 'a\r\nX: 1', port: 1, why: 'ü', isAllowable: false }).text).toMatch(/^[\x20-\x7e]+$/);
  });

  it('names the port only if a plain permission does not cover it', () => {
    expect([0, 80, 443, 22].map((port) => allowTarget('a.example', port))).toEqual([
      'a.example',
      'a.example',
      'a.example',
      'a.example:22',
    ]);
  });

  it('is reported up to a rate', () => {
    const meter = new RefusalMeter();
    const taken = (nowMs: number, count: number) => Array.from({ length: count }, () => meter.take(nowMs));
    expect(taken(1_000, REFUSALS_AT_ONCE).every(({ isReported }) => isReported)).toBe(true);
    expect(taken(1_000, 3).map(({ isReported, starts }) => [isReported, starts])).toEqual([
      [false, true],
      [false, false],
      [false, false],
    ]);
    expect(taken(2_000, REFUSALS_PER_SECOND + 1).filter(({ isReported }) => isReported)).toHaveLength(
      REFUSALS_PER_SECOND,
    );
  });
});
