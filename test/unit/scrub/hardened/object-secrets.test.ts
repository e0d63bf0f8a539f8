import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findKnown } from '#src/scrub/shown-later.js';
import { Guard, searchAtOnce } from '#src/scrub/vault/guard.js';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';
import { engine } from '../../../helpers/test-rules.ts';

const random = seededRandom(20_261_127);

function maskedIn(text: string): string[] {
  return engine.scan(text).map(({ start, end }) => text.slice(start, end));
}

const JWK = { format: 'jwk' } as const;
const KEYS = {
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EC: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  OKP: generateKeyPairSync('ed25519'),
} as const;
const PRIVATE = Object.entries(KEYS).map(([name, pair]) => [name, pair.privateKey.export(JWK)] as const);
const OCT = { kty: 'oct', alg: 'HS256', k: randomBytes(32).toString('base64url'), kid: 'main' };
const SHOWN = {
  'one line': JSON.stringify,
  'many lines': (key: object) => JSON.stringify(key, null, 2),
  'the type last': (key: object) => JSON.stringify(Object.fromEntries(Object.entries(key).toReversed())),
  'a set of keys': (key: object) => JSON.stringify({ keys: [{ kty: 'EC', x: 'AAAA' }, key] }),
  'JSON in JSON': (key: object) => JSON.stringify({ key: JSON.stringify(key) }),
  YAML: (key: object) =>
    Object.entries(key)
      .map(([name, value]) => `  ${name}: ${value}\n`)
      .join(''),
} as const;

describe('SEC-1.1 a private key as JSON Web Key', () => {
  describe.each(Object.entries(SHOWN))('in %s', (_, show) => {
    it.each([...PRIVATE, ['oct', OCT] as const])('%s: its private members and nothing else', (_name, key) => {
      const members = Object.entries(key).filter(([name]) => /^(?:d|p|q|dp|dq|qi|k)$/.test(name));
      expect(maskedIn(`key: ${show(key)}\n`).toSorted()).toEqual(members.map(([, value]) => value).toSorted());
    });
  });

  it('leaves public keys as they are', () => {
    for (const { publicKey } of Object.values(KEYS))
      expect(maskedIn(JSON.stringify({ keys: [publicKey.export(JWK)] }))).toEqual([]);
  });
});

describe('SEC-1.1 a Kubernetes Secret in JSON', () => {
  const data = { user: 'YWRtaW4=', password: 'c2VjcmV0', key: generate('[A-Za-z0-9+/]{40}', random) };
  const secret = (more: object) => ({ apiVersion: 'v1', ...more, metadata: { name: 'db', labels: { app: 'web-1' } } });
  it.each([
    ['data before kind', secret({ data, kind: 'Secret' })],
    ['kind before data', secret({ kind: 'Secret', data })],
    ['a list', { kind: 'List', items: [secret({ data, kind: 'Secret' }), { kind: 'ConfigMap', data: { a: 'abcd' } }] }],
  ])('in one line, %s: its values and nothing else', (_, value) => {
    for (const text of [
      JSON.stringify(value),
      JSON.stringify(value, null, 4),
      JSON.stringify({ out: JSON.stringify(value) }),
    ])
      expect(maskedIn(`${text}\n`).toSorted()).toEqual(Object.values(data).toSorted());
  });

  it('with stringData in clear', () => {
    const text = JSON.stringify(secret({ kind: 'Secret', stringData: { password: 'correct horse', mode: 'fast' } }));
    expect(maskedIn(text)).toEqual(['correct horse', 'fast']);
  });

  it('is not a config map', () => {
    const text = JSON.stringify({ apiVersion: 'v1', data: { level: 'info1234' }, kind: 'ConfigMap' });
    expect(maskedIn(text)).toEqual([]);
  });
});

describe('SEC-1.1 a store of keys in base64', () => {
  it('is masked as a whole, on one line and on many', () => {
    const dir = mkdtempSync(join(tmpdir(), 'p12-'));
    try {
      const run = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' });
      run('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'k', '-out', 'c', '-subj', '/CN=example.com');
      run('pkcs12', '-export', '-inkey', 'k', '-in', 'c', '-out', 'p', '-passout', 'pass:');
      const body = readFileSync(join(dir, 'p')).toString('base64');
      writeFileSync(join(dir, 'p'), '');
      expect(maskedIn(`p12: ${body}\n`)).toEqual([body]);
      for (const width of [64, 76]) {
        const lines = body.replace(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\n');
        expect(maskedIn(`$ base64 key.p12\n${lines}\n$ ls\n`)).toEqual([lines]);
        const text = `${lines.replaceAll('\n', '$\n')}$\n`;
        expect(maskedIn(text)).toEqual([text.slice(0, -2)]);
      }
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('SEC-1.1 the password of a data source as drivers of Go write it', () => {
  const password = generate('[a-z]{4}[0-9]{3}[A-Z]{3}', random);
  it.each([
    'root:KEY@tcp(db.example.com:3306)/app',
    'root:KEY@unix(/run/mysqld/mysqld.sock)/app?parseTime=true',
    'DSN="app:KEY@tcp([::1]:3306)/"',
    'dsn := "app:KEY@cloudsql(p:eu:db)/x"',
    'app:KEY@udp/x',
    'u:KEY@/app',
  ])('%s', (line) => {
    expect(maskedIn(`${line.replace('KEY', password)}\n`)).toEqual([password]);
    expect(maskedIn(`${line.replace('KEY', `a/b@${password}`)}\n`)).toEqual([`a/b@${password}`]);
  });

  it('is not found in code and addresses', () => {
    for (const text of [
      'import x from "@/components/y";',
      'http://example.com/@scope(x)/y',
      'a:b@(c)/d',
      'u:%s@tcp(%s)/%s',
    ])
      expect(maskedIn(`${text}\n`)).toEqual([]);
  });
});

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
function base58(text: string): string {
  let digits = '';
  for (let rest = BigInt(`0x${Buffer.from(text).toString('hex')}`); rest > 0n; rest /= 58n)
    digits = `${BASE58[Number(rest % 58n)]}${digits}`;
  return digits;
}

function uuencode(text: string): string {
  const lines = (text.match(/[\s\S]{1,45}/g) ?? []).map((part) => {
    const bytes = Buffer.concat([Buffer.from(part), Buffer.alloc(2)]);
    let line = String.fromCharCode(32 + part.length);
    for (let at = 0; at < part.length; at += 3)
      for (const shift of [18, 12, 6, 0])
        line += String.fromCharCode(((bytes.readUIntBE(at, 3) >> shift) & 63 || 64) + 32);
    return line;
  });
  return `begin 644 x\n${lines.join('\n')}\n\`\nend\n`;
}

const tagged = (text: string): string => [...text].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('');

describe('SEC-1.3 a value that was seen before', () => {
  const value = `${generate('[a-z]{6}-[A-Z0-9]{9}-[a-z]{6}', random)}`;
  it.each([
    ['Base58', base58(value)],
    ['Base58 with the line end of echo', base58(`${value}\n`)],
    ['uuencode', uuencode(value).split('\n')[1] ?? ''],
    ['tag characters', tagged(value)],
  ])('is masked in %s', async (name, shown) => {
    const guard = new Guard();
    guard.add(value, 'seen');
    const text = name === 'uuencode' ? `x\n${uuencode(value)}` : `out: ${shown}!\n`;
    const hits = await findKnown([guard], text);
    const start = text.indexOf(shown);
    expect(hits.some((hit) => hit.start <= start && hit.end >= start + shown.length)).toBe(true);
    expect(searchAtOnce([new Guard()], text)).toEqual([]);
  });
});
