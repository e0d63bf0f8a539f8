import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify, NAMES } from '#src/guard/table/names.js';

const root = join(import.meta.dirname, '../../../..');
const EVERY_NAME = NAMES.flatMap((row) => row.names.map((name) => ({ name, row })));

/** A path that has the name: `*` becomes `middle`. */
function pathOf(name: string, middle: string): { dir: string; base: string } {
  const path = name.replace('*', middle);
  const at = path.lastIndexOf('/');
  return { dir: at < 0 ? '' : path.slice(0, at), base: path.slice(at + 1) };
}

/** The action of a name, without the index that `classify` uses: the longest name of a row, a whole one first. */
function slowAction(dir: string, base: string): string | null {
  const path = `/${dir}/${base}`.toLowerCase();
  const matching = EVERY_NAME.filter(({ name }) => {
    const [start = '', end] = `/${name}`.split('*');
    if (end === undefined) return path.endsWith(start);
    const tail = path.slice(path.lastIndexOf(start.slice(0, start.lastIndexOf('/') + 1)));
    return tail.startsWith(start) && tail.endsWith(end) && !tail.slice(start.length).includes('/');
  });
  const rank = (name: string) => name.split('/').length * 2 + (name.includes('*') ? 0 : 1);
  return matching.sort((a, b) => rank(b.name) - rank(a.name))[0]?.row.action ?? null;
}

describe('the table of names', () => {
  it('SEC-2.3: names nothing twice, in lower case, with at most one star and two directories', () => {
    const names = EVERY_NAME.map(({ name }) => name);
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(
      names.filter((name) => name !== name.toLowerCase() || !/^(?:[^*/]+\/){0,2}[^*/]*\*?[^*/]*$/.test(name)),
    ).toEqual([]);
  });

  it('SEC-2.3: says for each name which program reads it, when, and where this is documented', () => {
    for (const { names, program, trigger, source } of NAMES) {
      expect([names, program !== '' && trigger !== '']).toEqual([names, true]);
      const isThere = source.startsWith('https://') ? URL.canParse(source) : existsSync(join(root, source));
      expect([names, source, isThere]).toEqual([names, source, true]);
    }
  });

  it('SEC-2.3: finds each name at any depth, in any case, and gives it the action of its row', () => {
    const place = fc.array(fc.constantFrom('a', 'src', 'B c', 'ünï', 'packages'), { maxLength: 3 });
    const one = fc.constantFrom(...EVERY_NAME);
    fc.assert(
      fc.property(
        one,
        place,
        fc.stringMatching(/^[a-z0-9-]{1,6}$/),
        fc.boolean(),
        ({ name, row }, above, middle, isUpper) => {
          const { dir, base } = pathOf(name, middle);
          const [at, as] = isUpper ? [dir.toUpperCase(), base.toUpperCase()] : [dir, base];
          const found = classify([...above, at].filter((part) => part !== '').join('/'), as);
          const expected = slowAction(dir, base);
          expect(found?.action ?? 'harmless').toBe(expected);
          if (!name.includes('*')) expect(expected).toBe(row.action);
        },
      ),
    );
  });

  it('SEC-2.3: means the same with letters that a file system takes for others', () => {
    for (const name of ['contextd.loc\u212a', '.env\u200crc', '.\uff45nvrc', 'opencode.j\u017fon'])
      expect([name, classify('a', name)?.action]).toEqual([name, 'set aside']);
  });

  it('SEC-2.3: takes what has no row by its form, and never throws', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (dir, name) => {
        const action = classify(dir, name.replaceAll('/', ''))?.action ?? null;
        expect([null, 'set aside', 'instructions', 'settings']).toContain(action);
      }),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^\.zq[a-z]{1,8}$/), fc.constantFrom('', 'a', 'a/b'), (name, dir) => {
        expect(classify(dir, name)).toMatchObject({ action: 'settings', row: null });
        expect(classify(`${dir}/${name}`, 'anything')).toMatchObject({ action: 'settings', row: null });
        for (const output of ['node_modules', 'target', '.venv/lib/site-packages'])
          expect(classify(`${output}/${dir}`, name)).toBeNull();
      }),
    );
  });
});

it.each([
  ['', 'foo.toml'],
  ['a', 'foo.INI'],
  ['', 'foo.cfg'],
  ['', 'foo.conf'],
  ['', 'foo.config.mts'],
  ['', 'foo.conf.js'],
  ['', '_foorc'],
  ['', '.foorc'],
  ['', '.foo'],
  ['.foo', 'run.sh'],
  ['.config', 'foo.toml'],
  ['', '.env'],
  ['', 'eslint.config.js'],
  ['', '.eslintrc.json'],
])('SEC-2.3 in "%s", %s counts as settings', (dir, name) => {
  expect(classify(dir, name)?.action).toBe('settings');
});

it.each([
  ['', 'src'],
  ['', 'README.md'],
  ['', 'package.json'],
  ['', 'tsconfig.json'],
  ['', 'Cargo.toml'],
  ['', 'pyproject.toml'],
  ['', '.gitignore'],
  ['', '.editorconfig'],
  ['', '.github'],
  ['.github', 'workflows'],
  ['.github/workflows', 'ci.yml'],
  ['', '.cargo'],
  ['.mvn/wrapper', 'maven-wrapper.properties'],
  ['src/main/resources', 'messages_de.properties'],
  ['', 'webpack.config.js'],
  ['', '.git'],
  ['', 'march'],
  ['', '.envrc.quarantined-0123abcd'],
])('SEC-2.3 in "%s", %s is everyday work', (dir, name) => {
  expect(classify(dir, name)).toBeNull();
});

it.each([
  ['', 'CLAUDE.md'],
  ['packages/a', 'AGENTS.md'],
  ['', 'GEMINI.md'],
  ['', '.cursorrules'],
  ['', '.windsurfrules'],
  ['.github', 'copilot-instructions.md'],
  ['.github/instructions', 'ts.instructions.md'],
  ['.github/agents', 'any.md'],
  ['', '.clinerules'],
  ['.clinerules', 'any.md'],
])('SEC-2.3 in "%s", %s instructs agents', (dir, name) => {
  expect(classify(dir, name)?.action).toBe('instructions');
  expect(classify(`node_modules/p/${dir}`, name)).toBeNull();
});
