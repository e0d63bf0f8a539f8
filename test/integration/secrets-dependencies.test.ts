import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Installation, install } from '../helpers/installation.ts';

const FILES = 200;
const AT_ONCE = 8;
/** Larger files come in parts, which nobody writes back as a whole. */
const MAX_BYTES = 12_000;
const MODULES = join(import.meta.dirname, '../../node_modules');
const TEXT_FILE = /\.(?:[cm]?[jt]s|json|md|ya?ml|css)$/;
/** Names of what is most likely to be mistaken for a secret. */
const NAMES_SECRETS = /password|secret|token|api_?key|auth|credential/i;

/** Text files of the dependencies, evenly chosen; half of them name secrets. */
function chooseFiles(): string[] {
  const names = readdirSync(MODULES, { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXT_FILE.test(name))
    .filter((name) => {
      const stat = statSync(join(MODULES, name), { throwIfNoEntry: false });
      return stat?.isFile() === true && stat.size > 20 && stat.size <= MAX_BYTES;
    })
    .sort();
  const telling = names.filter((name) => NAMES_SECRETS.test(readFileSync(join(MODULES, name), 'utf8')));
  const rest = names.filter((name) => !telling.includes(name));
  const spread = (list: string[]): string[] =>
    list.filter((_, at) => at % Math.max(1, Math.floor(list.length / (FILES / 2))) === 0).slice(0, FILES / 2);
  return [...spread(telling), ...spread(rest)];
}

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
});
afterAll(() => at.remove());

describe('SEC-1.4 files of dependencies', () => {
  it(`have each byte as it was after being read and written, ${FILES} of them`, { timeout: 600_000 }, async () => {
    const names = chooseFiles();
    expect(names).toHaveLength(FILES);
    const changed: string[] = [];
    const readAndWrite = async (name: string, index: number): Promise<void> => {
      const path = `copies/${index}/${name.split('/').at(-1)}`;
      const file = join(at.project, path);
      mkdirSync(dirname(file), { recursive: true });
      const original = readFileSync(join(MODULES, name));
      writeFileSync(file, original);
      const read = await at.ask('safe_read', { path, max_tokens: 20_000 });
      // An empty line first shows that the file was written.
      const written = await at.ask('safe_write', { path, content: `\n${read.data.content}` });
      const now = readFileSync(file);
      if (!written.success || !now.equals(Buffer.concat([Buffer.from('\n'), original]))) changed.push(name);
    };
    for (let begin = 0; begin < names.length; begin += AT_ONCE)
      await Promise.all(names.slice(begin, begin + AT_ONCE).map((name, index) => readAndWrite(name, begin + index)));
    expect(changed).toEqual([]);
  });
});
