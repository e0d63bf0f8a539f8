import { B64, generate } from '../sample-patterns.ts';
import { type Kind, kebab, number, one, word } from './sessions.ts';

type Random = () => number;

/** Marks of providers that consist of characters of base64, each with the characters of its token. */
const MARKS: readonly [mark: string, rest: string][] = [
  ['ABSK', `${B64}{130}=`],
  ['cflt', '[A-Za-z0-9+/]{60}'],
  ['AKIA', '[A-Z2-7]{16}'],
  ['ASIA', '[A-Z2-7]{16}'],
  ['LTAI', '[A-Za-z0-9]{20}'],
  ['AKID', '[A-Za-z0-9]{32}'],
  ['AIza', '[A-Za-z0-9]{35}'],
  ['EAA', '[A-Za-z0-9]{120}'],
  ['ATBB', '[A-Za-z0-9]{32}'],
  ['ATATT3', '[A-Za-z0-9]{100}'],
  ['AQVN', '[A-Za-z0-9]{36}'],
  ['SG', '[A-Za-z0-9]{66}'],
  ['cio', '[A-Za-z0-9]{32}'],
  ['oy2', '[a-z0-9]{43}'],
  ['eyJ', '[A-Za-z0-9]{60}'],
];

/** Base64 of a length with a mark inside it. */
function withMark(length: number, random: Random): string {
  const [mark, rest] = one(MARKS, random);
  const token = mark + generate(rest, random).slice(0, length - mark.length - 8);
  const before = number(3, Math.max(3, length - token.length - 2), random);
  const body = generate(`[A-Za-z0-9]{${before}}`, random) + token;
  return (body + generate(`${B64}{${length}}`, random)).slice(0, length);
}

/** A mark counts only at the edge of a word: base64 holds each mark somewhere. */
export const edges: Kind = {
  name: 'marks without an edge',
  makers: {
    'an integrity of a lock file': (random) => ({
      texts: [
        `    "node_modules/${kebab(random)}": {\n      "version": "${number(1, 9, random)}.${number(0, 40, random)}.${number(0, 9, random)}",\n      "integrity": "sha512-${withMark(86, random)}==",\n      "engines": {}\n    },\n`,
      ],
    }),
    'hashes of other package managers': (random) => ({
      texts: [
        one(
          [
            `  resolution: {integrity: sha512-${withMark(86, random)}==}\n`,
            `github.com/${kebab(random)}/${word(random)} v1.${number(0, 60, random)}.0 h1:${withMark(43, random)}=\n`,
            `<script src="/${word(random)}.js" integrity="sha384-${withMark(64, random)}"></script>\n`,
            `  hash = "sha256-${withMark(43, random)}=";\n`,
            `  checksum: 10c0/${withMark(86, random)}\n`,
          ],
          random,
        ),
      ],
    }),
    'an image in base64': (random) => ({
      texts: [
        one(
          [
            `![${word(random)}](data:image/png;base64,iVBORw0KGgo${withMark(400, random)}${withMark(300, random)})\n`,
            `.${kebab(random)} { background: url(data:font/woff2;base64,d09GMgABAAAAA${withMark(500, random)}); }\n`,
            `   "image/png": "iVBORw0KGgoAAAANSUhEUgAA${withMark(700, random)}\\n",\n`,
          ],
          random,
        ),
      ],
    }),
    'lines of base64': (random) => ({
      texts: [
        `${Array.from({ length: 8 }, () => withMark(76, random).replace(/^./, 'Q')).join('\n')}\n${generate(`${B64}{20}`, random)}\n`,
      ],
    }),
    'a signature in a header': (random) => ({
      texts: [`X-${word(random)}-Etag: "W/${withMark(180, random)}"\nDate: Tue, 3 Nov 2026 10:11:12 GMT\n`],
    }),
    'a token at its edge': (random) => {
      const [mark, rest] = one(
        MARKS.filter(([name]) => ['ABSK', 'cflt', 'AKIA', 'AIza', 'ATATT3', 'LTAI'].includes(name)),
        random,
      );
      const token = `«${mark}${generate(rest, random)}»`;
      return {
        texts: [
          one(
            [
              `${word(random)} ${token} ${word(random)}\n`,
              `["${token}"]\n`,
              `(${token})\n`,
              `x=${token}\n`,
              `${token}\n`,
            ],
            random,
          ),
        ],
      };
    },
  },
};
