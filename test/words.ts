import ts from 'typescript';

/** Words that nobody says aloud when explaining code, in all their forms, and what to write instead. */
export const REFUSED: readonly { forms: readonly string[]; write: string }[] = [
  { forms: ['mend', 'mends', 'mended', 'mending'], write: 'fix' },
  { forms: ['lest'], write: 'so that … does not' },
  { forms: ['anew'], write: 'again' },
  { forms: ['whoever', 'whomever'], write: 'anyone who' },
  { forms: ['wherein'], write: 'in which' },
  { forms: ['thereof'], write: 'of it, with the thing named again' },
  { forms: ['shall', 'shalt', "shan't"], write: 'must' },
  { forms: ['alike'], write: 'the same, or both' },
  { forms: ['is none', 'are none'], write: 'there is no …, or is not a …' },
  { forms: ['is told', 'are told'], write: 'is reported, or gets' },
  { forms: ['so many'], write: 'this many, or the number' },
];

const FORMS = new Map(REFUSED.flatMap(({ forms, write }) => forms.map((form) => [form, write] as const)));

/** The two words of a form may stand on two lines of a comment. A hyphen joins a word to another: `look-alike` passes. */
const PATTERN = new RegExp(`(?<![\\w-])(${[...FORMS.keys()].join('|').replaceAll(' ', '[\\s*/#]+')})(?![\\w-])`, 'gi');

/** One line for each refused word: `path:line: "word": write …`. Identifiers of TypeScript are not searched. */
export function findRefusedWords(path: string, text: string): string[] {
  if (text.search(PATTERN) === -1) return [];
  const searched = /\.[jt]s$/.test(path) ? withoutIdentifiers(text) : text;
  return [...searched.matchAll(PATTERN)].map((match) => {
    const word = match[0].replaceAll(/[\s*/#]+/g, ' ');
    const line = text.slice(0, match.index).split('\n').length;
    return `${path}:${line}: "${word}": write "${FORMS.get(word.toLowerCase())}"`;
  });
}

/** The same text at the same offsets, with blanks in place of identifiers. */
function withoutIdentifiers(text: string): string {
  let kept = '';
  let end = 0;
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      const start = node.getStart(source);
      kept += text.slice(end, start) + ' '.repeat(node.end - start);
      end = node.end;
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return kept + text.slice(end);
}
