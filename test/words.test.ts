import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findRefusedWords, REFUSED } from './words.ts';

const ROOT = join(import.meta.dirname, '..');

/** Not written by hand for this project, or about the words themselves. */
const NOT_SEARCHED: readonly { path: RegExp; why: string }[] = [
  { path: /(^|\/)(node_modules|dist|coverage|\.git)(\/|$)/, why: 'installed, built or measured' },
  { path: /^bench\/results(\/|$)/, why: 'printed by the benchmark' },
  { path: /(^|\/)package-lock\.json$/, why: 'written by npm' },
  { path: /^src\/protocol\/generated(\/|$)|\.pb\.go$/, why: 'generated from proto/' },
  { path: /^proto\/(grpc|plugin)(\/|$)/, why: 'definitions of other projects' },
  { path: /^test\/fixtures\/outputs(\/|$)/, why: 'recorded outputs of other programs' },
  { path: /^THIRD_PARTY_NOTICES\.md$/, why: 'licences of other projects' },
  { path: /^test\/words(\.test)?\.ts$/, why: 'holds the words' },
];
const SEARCHED = /\.([jt]s|mjs|md|proto|sh|toml|json|go|py|pl|c)$|^bin\/(ctxd|contextd)$|^\.ci\/run$/;

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (NOT_SEARCHED.some((one) => one.path.test(path))) return [];
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() && SEARCHED.test(path) ? [path] : [];
  });
}

it('no comment, string or document holds a word that nobody would say aloud', () => {
  const paths = filesBelow('');
  expect(paths).toEqual(expect.arrayContaining(['README.md', 'bin/ctxd', '.ci/run', 'src/core/errors.ts']));
  expect(paths.flatMap((path) => findRefusedWords(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});

describe.each(REFUSED.flatMap(({ forms, write }) => forms.map((form) => [form, write] as const)))(
  '%s',
  (form, write) => {
    const capital = form.replace(/^./, (letter) => letter.toUpperCase());
    const twoLines = (leader: string) => form.replace(' ', `\n${leader}`);

    it.each([
      ['a line comment', 'a.ts', `const a = 1; // it ${form} b`],
      ['a block comment over two lines', 'a.ts', `/**\n * it ${twoLines(' * ')} b\n */\nconst a = 1;`],
      ['line comments over two lines', 'a.ts', `// it ${twoLines('// ')} b\nconst a = 1;`],
      ['a string', 'a.ts', `const a = 1;\nconst b = "${form} b";`],
      ['a template', 'a.ts', `const a = \`\${b} ${form} \${c}\`;`],
      ['the start of a sentence', 'a.md', `${capital} b.`],
      ['a sentence over two lines', 'a.md', `it ${twoLines('')} b.`],
      ['a shell comment over two lines', 'a.sh', `# it ${twoLines('# ')} b`],
      ['a description in JSON', 'a.json', JSON.stringify({ description: `it ${form} b` })],
    ])('is found in %s, with what to write instead', (_, path, text) => {
      expect(findRefusedWords(path, text)).toEqual([
        expect.stringMatching(new RegExp(`^${path}:[12]: "${form}": `, 'i')),
      ]);
      expect(findRefusedWords(path, text)[0]).toContain(write);
    });
  },
);

it('names of variables, members and private fields are not searched', () => {
  expect(findRefusedWords('a.ts', 'const mend = { shall: anew.lest }; class A { #whoever = alike; }')).toEqual([]);
});

it('words that only contain a refused word pass', () => {
  expect(findRefusedWords('a.md', 'amend, recommended, celeste, shallow, look-alike, so-many, is nonempty')).toEqual(
    [],
  );
});
