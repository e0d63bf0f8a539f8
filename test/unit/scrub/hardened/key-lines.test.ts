import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { stride } from '../../../helpers/property-runs.ts';
import { seededRandom } from '../../../helpers/sample-patterns.ts';
import { engine } from '../../../helpers/test-rules.ts';

const dir = mkdtempSync(join(tmpdir(), 'key-lines-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const PEM = { type: 'pkcs8', format: 'pem' } as const;
const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEYS: Readonly<Record<string, string>> = {
  'RSA in PKCS #8': RSA.privateKey.export(PEM).toString(),
  'RSA in PKCS #1': RSA.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  EC: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  Ed25519: generateKeyPairSync('ed25519').privateKey.export(PEM).toString(),
  'an encrypted key': RSA.privateKey
    .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'not-shown' })
    .toString(),
  // OpenSSH has lines of 70 characters, which `sed -n l` breaks.
  'OpenSSH, lines of 70': openssh(RSA.privateKey.export({ type: 'pkcs8', format: 'der' })),
};

function openssh(bytes: Buffer): string {
  const body = Buffer.concat([Buffer.from('openssh-key-v1\0'), bytes]).toString('base64');
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${body.replace(/.{70}/g, '$&\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;
}

/** The lines of base64 in a key. */
function bodyOf(key: string): string[] {
  return key.split('\n').filter((line) => /^[A-Za-z0-9+/]+=*$/.test(line));
}

/** The lines of a key of which eight characters or a short last line are shown. */
function shownOf(key: string, text: string): string[] {
  let masked = '';
  let from = 0;
  for (const { start, end } of engine.scan(text)) {
    masked += `${text.slice(from, start)}\n`;
    from = end;
  }
  masked += text.slice(from);
  return bodyOf(key).filter((line) =>
    Array.from({ length: Math.max(1, line.length - 7) }, (_, at) => line.slice(at, at + 8)).some((piece) =>
      masked.includes(piece),
    ),
  );
}

const eachLine = (show: (line: string, at: number) => string) => (key: string) =>
  key.trimEnd().split('\n').map(show).join('\n');
const time = (at: number): string => `2026-01-02T03:04:${String(at).padStart(2, '0')}.123Z`;

/** Ways in which a program shows the lines of a file. */
const SHOWN: Readonly<Record<string, (key: string) => string>> = {
  'nothing between them': (key) => key,
  'cat -e': eachLine((line) => `${line}$`),
  'cat -A of a file with CRLF': eachLine((line) => `${line}^M$`),
  'cat -A with tabs': eachLine((line) => `^I^I${line}$`),
  'line numbers': eachLine((line, at) => `${String(at + 1).padStart(6)}\t${line}`),
  'line numbers without a blank': eachLine((line, at) => `${at + 1}${line}`),
  'line numbers and $': eachLine((line, at) => `${at + 1}:${line}$`),
  'the name of the file': eachLine((line, at) => `config/keys/server.pem:${at + 1}:${line}`),
  quote: eachLine((line) => `> ${line}`),
  bars: eachLine((line) => `| ${line.padEnd(70)} |`),
  'box drawing': eachLine((line) => `│ ${line} │`),
  'added lines': eachLine((line) => `+${line}`),
  'removed lines': eachLine((line) => `-${line}`),
  comments: eachLine((line) => `# ${line}`),
  'C comments': eachLine((line) => ` * ${line}`),
  times: eachLine((line, at) => `${time(at)} ${line}`),
  'log lines': eachLine((line, at) => `${time(at)} INFO  [worker-${at}] server.Boot - ${line} (thread=main)`),
  'log lines in JSON': eachLine((line, at) =>
    JSON.stringify({ level: 'info', time: time(at), msg: line, pid: 7 + at }),
  ),
  'a container': eachLine((line) => `web-1  | ${line}`),
  'set -x': eachLine((line) => `+ echo '${line}'\n${line}`),
  'a list in JSON': (key) => JSON.stringify(key.trimEnd().split('\n'), null, 2),
  'a list in JSON, one line': (key) => JSON.stringify(key.trimEnd().split('\n')),
  'a string in JSON': (key) => JSON.stringify({ key }),
  'JSON in JSON': (key) => JSON.stringify({ out: JSON.stringify({ key }) }),
  'JSON in JSON in JSON': (key) => JSON.stringify({ out: JSON.stringify({ out: JSON.stringify({ key }) }) }),
  YAML: (key) => `key: |\n${eachLine((line) => `    ${line}`)(key)}\nnext: 1\n`,
  'a program': eachLine((line) => `  "${line}\\n" +`),
  'a C string': eachLine((line) => `    "${line}\\r\\n" \\`),
  'a Python list': eachLine((line) => `    b'${line}',`),
  'a shell that knows no such command': eachLine((line, at) => `bash: line ${at + 1}: ${line}: command not found`),
  'HTML lines': eachLine((line) => `<li class="line">${line}</li>`),
  'line breaks of HTML': (key) => key.trimEnd().split('\n').join('<br/>'),
  'other text': eachLine((line, at) => `${line}\n ~ the ${['red', 'green', 'blue'][at % 3]} fox sleeps ~`),
  'blank lines': eachLine((line) => `${line}\n\n`),
  'another letter at each end': eachLine((line) => `«${line}»`),
  'the lines turned round': (key) => key.trimEnd().split('\n').toReversed().join('\n'),
  'sorted lines': (key) => key.trimEnd().split('\n').toSorted().join('\n'),
};

describe('SEC-1.1 no line of a private key is shown, whatever stands between its lines', () => {
  describe.each(Object.entries(SHOWN))('%s', (name, show) => {
    it.each(Object.keys(KEYS))('%s', (kind) => {
      const key = KEYS[kind] ?? '';
      const text = `$ show key\n${show(key)}\n$ date\nThu Jan  2 03:04:05 UTC 2026\n`;
      expect(shownOf(key, text)).toEqual([]);
      expect(
        engine.scan(text).every(({ end }) => end <= text.indexOf('$ date')),
        name,
      ).toBe(true);
    });
  });

  const ORDERS: Readonly<Record<string, (lines: string[]) => string[]>> = {
    sorted: (lines) => lines.toSorted(),
    'sorted and numbered': (lines) => lines.toSorted().map((line, at) => `${String(at + 1).padStart(6)}\t${line}`),
    'sorted, the last first': (lines) => lines.toSorted().toReversed(),
    'turned round': (lines) => lines.toReversed(),
  };
  const random = seededRandom(Number(process.env.CONTEXTD_PROPERTY_SEED ?? 29));
  it.each(Object.keys(ORDERS))('lines of keys of many lengths, %s', (order) => {
    for (let at = 0; at < 300; at += stride(15)) {
      // A plus sign sorts before the BEGIN line.
      const lines =
        Buffer.from(Array.from({ length: 600 + at }, () => Math.floor(random() * 256)))
          .toString('base64')
          .match(/.{1,64}/g) ?? [];
      const rest = lines.at(-1) ?? '';
      const body = [...lines.slice(0, -1), at % 3 === 0 ? `+${rest.slice(1)}` : rest];
      const key = ['-----BEGIN RSA PRIVATE KEY-----', ...body, '-----END RSA PRIVATE KEY-----'];
      const text = `$ show key\n${ORDERS[order]?.(key).join('\n') ?? ''}\n$ date\nThu Jan  2\n`;
      expect(shownOf(key.join('\n'), text)).toEqual([]);
    }
  });

  const FILE = join(dir, 'key.pem');
  it.each([
    'cat -A "$1"',
    'cat -e "$1"',
    'cat -n "$1"',
    'cat -vte "$1"',
    'sed -n l "$1"',
    'nl -ba "$1"',
    'grep -n . "$1"',
    'sed "s/$/ end/" "$1"',
    'paste -sd, "$1"',
    'tac "$1"',
    'fold -w 40 "$1"',
    'fold -w 36 "$1"',
    'pr -t -n "$1"',
    'head -5 "$1"',
    'head -5 "$1" | cat -A',
    'tail -5 "$1" | cat -A',
    'grep -v -- ----- "$1" | cat -A',
    'tail -n +2 "$1" | sed -n l',
    'while read -r l; do $l; done <"$1" 2>&1',
    '(set -x; for l in $(cat "$1"); do : $l; done) 2>&1',
    'diff /dev/null "$1"',
    'diff -u /dev/null "$1"',
    'awk \'{print NR": "$0" ["length($0)"]"}\' "$1"',
    'expand -t4 "$1"',
    'od -An -c "$1"',
  ])('printed by %s', (command) => {
    // If a shell splits the lines into words, nothing but random letters is left of a key that is encrypted.
    const isSplit = command.includes('do ');
    for (const key of Object.values(KEYS).filter((one) => !isSplit || !one.includes('ENCRYPTED'))) {
      writeFileSync(FILE, key);
      const text = execFileSync('bash', ['-c', `${command} || true`, 'bash', FILE], { encoding: 'utf8' });
      expect(shownOf(key, text)).toEqual([]);
    }
  });
});

describe('SEC-1.1 what is around a private key stays', () => {
  const KEY = KEYS['RSA in PKCS #8'] ?? '';
  const PUBLIC = RSA.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  it('as public keys, certificates, hashes and text before and after it', () => {
    const hashes = `${'0123456789abcdef'.repeat(4)}  a\n${'fedcba9876543210'.repeat(4)}  b\n`;
    for (const other of [PUBLIC, hashes, 'the quick brown fox jumps over the lazy dog\n'])
      for (const show of [(text: string) => text, eachLine((line) => `${line}$`)]) {
        const [before, key] = [`${show(other)}\n`, show(KEY)];
        const text = `${before}${key}\n${before}`;
        for (const { start, end } of engine.scan(text)) {
          expect(start).toBeGreaterThanOrEqual(before.length);
          expect(end).toBeLessThanOrEqual(before.length + key.length);
        }
      }
  });

  it('as the text between two keys', () => {
    const between = 'the first step is done\nthe second step is done\n';
    const text = `${KEY}\n${between}${KEY}`;
    const [from, to] = [KEY.length + 1, KEY.length + 1 + between.length];
    for (const { start, end } of engine.scan(text)) expect(end <= from || start >= to).toBe(true);
  });

  it('as a program that writes or reads such keys', () => {
    for (const text of [
      "const pem = '-----BEGIN PRIVATE KEY-----\\n' + toBase64Lines(exportPkcs8Key(pair)) + '\\n-----END PRIVATE KEY-----';\n",
      'if (!text.includes("-----BEGIN RSA PRIVATE KEY-----")) throw new KeyFormatError("no key", { path: options.keyPath });\n',
      'grep -q -- "-----BEGIN OPENSSH PRIVATE KEY-----" ~/.ssh/id_rsa && ssh-keygen -p -f ~/.ssh/id_rsa\n',
    ])
      expect(engine.scan(text)).toEqual([]);
  });
});
