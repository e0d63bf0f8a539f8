import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findInstallRoot } from '../../src/config/install-root.ts';

export interface NamedFile {
  name: string;
  text: string;
}

/** Files read at most, of those below node_modules. */
const MAX_DEPENDENCY_FILES = 1800;
const MAX_BYTES = 150_000;
const TEXT_FILE = /\.(?:[cm]?[jt]s|tsx?|json|md|ya?ml|toml|css|html|txt|sh)$/;

/** Source and documents of the project's dependencies, evenly chosen: what agents read all day. */
export function dependencyFiles(): NamedFile[] {
  const root = join(findInstallRoot(), 'node_modules');
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXT_FILE.test(name))
    .sort();
  const step = Math.max(1, Math.floor(names.length / MAX_DEPENDENCY_FILES));
  return names
    .filter((_, at) => at % step === 0)
    .slice(0, MAX_DEPENDENCY_FILES)
    .flatMap((name) => readText(root, name));
}

/** Documents, lock file, configuration and source of the project itself, and its newest commits as git prints them. */
export function ownOutputs(): NamedFile[] {
  const root = findInstallRoot();
  const listed = ['docs', 'src', 'scripts', 'bench']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((name) => TEXT_FILE.test(name) && !name.includes('gitleaks.toml') && !name.includes('node_modules'));
  const top = readdirSync(root).filter((name) => TEXT_FILE.test(name));
  return [...[...listed, ...top].flatMap((name) => readText(root, name)), ...commits(root)];
}

function readText(root: string, name: string): NamedFile[] {
  const path = join(root, name);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size > MAX_BYTES) return [];
  return [{ name: relative(root, path), text: readFileSync(path, 'utf8') }];
}

/** Empty outside a clone. */
function commits(root: string): NamedFile[] {
  const run = (...args: string[]): string =>
    execFileSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  try {
    return [0, 5, 10, 15, 20].map((skip) => ({
      name: `git log -p --skip ${skip}`,
      text: run('log', '-p', '-n', '5', '--skip', String(skip), '--', 'src', 'docs', 'package-lock.json'),
    }));
  } catch {
    return [];
  }
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const ALNUM = `${LETTERS}${LETTERS.toUpperCase()}0123456789`;
const HEX = '0123456789abcdef';

function random(characters: string, length: number): string {
  return Array.from({ length }, () => characters[randomInt(characters.length)]).join('');
}

function one<T>(items: readonly T[]): T {
  const item = items[randomInt(items.length)];
  if (item === undefined) throw new RangeError('nothing to choose from');
  return item;
}

const WORDS =
  'total build done warning file main index value count size started server listening request user cache module package version compile object header'.split(
    ' ',
  );
const word = (): string => one(WORDS);
const camel = (): string =>
  `${word()}${word().replace(/^./, (first) => first.toUpperCase())}${word().replace(/^./, (first) => first.toUpperCase())}`;

/** Lines that stand after a secret and are no part of it. */
const ORDINARY_LINES: readonly (() => string)[] = [
  () => `total ${randomInt(1000)}`,
  () => `${randomInt(20)}-${randomInt(20)}-0.${randomInt(10_000)}`,
  word,
  () => `${word()} ${word()} ${word()}`,
  () => String(randomInt(1_000_000_000)),
  () => random(HEX, one([7, 8, 12, 32, 40, 64])),
  () => `${word()}-${randomInt(9)}.${randomInt(30)}.${randomInt(9)}`,
  () => `2026-11-${10 + randomInt(20)}T10:11:12Z ${word()}`,
  () => `drwxr-xr-x ${randomInt(9)} root root ${randomInt(9999)} Nov 23 ${word()}`,
  camel,
  () => `src/${word()}/${word()}.ts`,
  () => `${word()}_${word()}_${randomInt(99)}`,
  () => `0x${random(HEX, 8)}`,
  () => `  ${word()}: ${word()}`,
  () => `v${randomInt(9)}.${randomInt(30)}.${randomInt(9)}`,
  () => '}',
];

const KEYS: readonly (() => string)[] = [
  () => `API_KEY=gh${'p_'}${random(ALNUM, 36)}`,
  () => `gh${'p_'}${random(ALNUM, 36)}`,
  () => `AK${'IA'}${random('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
  () => `API_KEY=${random(ALNUM, 16 + randomInt(75))}`,
  () => `SECRET_KEY=${random(HEX, one([32, 40, 48, 56, 64]))}`,
  () => `TOKEN=glp${'at-'}${random(ALNUM, 20 + randomInt(40))}`,
  () => `Authorization: Bearer ${random(ALNUM, 20 + randomInt(70))}`,
  () => `password=${random(ALNUM, 8 + randomInt(52))}`,
  () => `sk_${'live_'}${random(ALNUM, 24 + randomInt(76))}`,
  () => `np${'m_'}${random(ALNUM, 36)}`,
  () => `AWS_SECRET_ACCESS_KEY=${random(ALNUM, 40)}`,
  () => `https://u:${random(ALNUM, 8 + randomInt(32))}@host.example/`,
];

export interface Soak {
  text: string;
  /** Where the line with the key stands. */
  start: number;
  end: number;
}

/** A line with a key of any length between ordinary lines; every second one is filled up to a usual width. */
export function soak(): Soak {
  const before = Array.from({ length: randomInt(3) }, () => `${one(ORDINARY_LINES)()}\n`).join('');
  const after = Array.from({ length: 1 + randomInt(5) }, () => `${one(ORDINARY_LINES)()}\n`).join('');
  const key = one(KEYS)();
  const width = one([0, 40, 48, 60, 64, 72, 76, 80, 100, 120]);
  const line = key.length + 1 < width ? `${' '.repeat(width - key.length)}${key}` : key;
  return { text: `${before}${line}\n${after}`, start: before.length, end: before.length + line.length };
}

const COMPUTED: readonly ((left: string) => string)[] = [
  (left) => `    ${left} = get_${word()}_${word()}(${word()})`,
  (left) => `    ${left} = self.${word()}.${word()}`,
  (left) => `    ${left} = ${camel()}`,
  (left) => `    call(${word()}=${word()}, ${left}=${word()}_${word()})`,
  (left) => `  const ${left} = process.env.${word().toUpperCase()}_${word().toUpperCase()};`,
  (left) => `  ${left}: ${camel()}(${word()}),`,
  (left) => `\t${left} := ${word()}s[${randomInt(9)}]`,
  (left) => `  ${left} = var.${word()}_${word()}`,
  (left) => `${left}: {{ .Values.${word()}.${word()} }}`,
  (left) => `${left}=$\{${word().toUpperCase()}_${word().toUpperCase()}}`,
  (left) => `  "${left}": "${randomInt(9)}.${randomInt(30)}.${randomInt(9)}",`,
  (left) => `  "${left}": "ENC[AES256_GCM,data:${random(ALNUM, 16)}==,iv:${random(ALNUM, 20)}=,type:str]"`,
  (left) => `${left}: /run/secrets/${word()}-${word()}`,
  (left) => `example.com/${word()}/${left} v1.${randomInt(30)}.0 h1:${random(ALNUM, 43)}=`,
  (left) => `  ${left} = "${word()}-${left.replaceAll('_', '-').toLowerCase()}"`,
];
const NAMES = ['password', 'db_password', 'api_key', 'auth_token', 'client_secret', 'secret_key', 'access_token'];
const AROUND = `def handle(request):\n    if not request.user:\n        return None\nLINE\n    return render(request)\n`;

/** A line that names a secret and holds none. */
export function clean(): string {
  return AROUND.replace('LINE', () => one(COMPUTED)(one(NAMES)));
}
