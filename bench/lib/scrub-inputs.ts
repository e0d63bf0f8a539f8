import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findInstallRoot } from '../../src/config/install-root.ts';

export interface ScrubInput {
  name: string;
  text: string;
  /** The aims, in milliseconds. */
  exactMs: number;
  hardenedMs: number;
}

const KIB = 1024;
const MIB = 1024 * 1024;
const MODULES = ['parser', 'lexer', 'token', 'auth', 'session', 'http', 'cache', 'key-store'];

/** Texts as tools print them. */
export const INPUTS: readonly ScrubInput[] = [
  { name: '2 KB of a command', text: buildLog(2 * KIB), exactMs: 0.2, hardenedMs: 0.5 },
  { name: '2 KB of variables, 3 secrets', text: environmentText(), exactMs: 0.2, hardenedMs: 0.5 },
  { name: '16 KB of source', text: source(16 * KIB), exactMs: 1, hardenedMs: 3 },
  { name: '100 KB of source', text: source(100 * KIB), exactMs: 8, hardenedMs: 20 },
  { name: '5 MB of a log', text: buildLog(5 * MIB), exactMs: 800, hardenedMs: 2000 },
];

/** The hardest texts for search patterns, views and decoders; a megabyte each. */
export const BAITS: readonly { name: string; text: string }[] = [
  ['one letter', 'a'],
  ['key=', 'key='],
  ['api_key = and one letter', 'api_key = ', 'a'],
  ['the first line of a private key', `-----BEGIN PRIVATE${' KEY'}-----`],
  ['a vendor word and zeros', 'okta', '0'],
  ['a curl progress meter', '\r  0 1256M    0 16384    0     0  18012      0 20:19:02 --:--:-- 20:19:02 18012'],
  ['escape characters', '\x1b[0m\x1b['],
  ['backslashes', '\\'],
  ['percent escapes', '%41'],
  ['entities', '&#65;'],
  ['quotes and backslashes', '{\\"a\\":\\"'],
  ['letters on lines of their own', 'a\n'],
  ['URLs with a user', `https://a:${'b'}@c/`],
  ['carriage returns and backspaces', 'a\b\r'],
].map(([name = '', ...parts]) => ({ name, text: bait(parts) }));

export const RANDOM_BAITS: readonly { name: string; text: string }[] = [
  { name: 'base64 in one line', text: randomBytes(0.75 * MIB).toString('base64') },
  {
    name: 'base64 in lines',
    text: (
      randomBytes(0.73 * MIB)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    ).join('\n'),
  },
  { name: 'hexadecimal', text: randomBytes(MIB / 2).toString('hex') },
];

/** The first of two parts once, then the last part repeated up to a megabyte. */
function bait(parts: readonly string[]): string {
  const [first = '', repeated = first] = parts;
  const head = parts.length > 1 ? first : '';
  return head + repeated.repeat(Math.ceil((MIB - head.length) / repeated.length));
}

/** Source of this project, repeated. */
function source(chars: number): string {
  const names = ['scrubber.ts', 'leaves.ts', 'spans.ts', 'first-pass.ts'];
  const text = names.map((name) => readFileSync(join(findInstallRoot(), 'src', 'scrub', name), 'utf8')).join('\n');
  return text.repeat(Math.ceil(chars / text.length)).slice(0, chars);
}

function buildLog(chars: number): string {
  const lines: string[] = [];
  for (let i = 0, length = 0; length < chars; i++) {
    const name = MODULES[i % MODULES.length];
    const line = `2026-11-21T10:${String(i % 60).padStart(2, '0')}:07Z [build] (${i}) cc -O2 -c src/${name}/file_${i}.c -o out/${name}_${(i * 2654435761) % 4294967296}.o`;
    lines.push(line);
    length += line.length + 1;
  }
  return lines.join('\n').slice(0, chars);
}

/** The secrets are generated at run time, so that this file holds nothing that looks like a real one. */
function environmentText(): string {
  const secret = (): string => randomBytes(20).toString('hex');
  const plain = Array.from({ length: 40 }, (_, i) => `SETTING_${i}=/usr/lib/part-${i}/share`);
  return [`API_TOKEN=${secret()}`, ...plain, `DB_PASSWORD=${secret()}`, `gh${'p_'}${secret().slice(0, 36)}`].join('\n');
}
