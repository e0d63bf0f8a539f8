import fc from 'fast-check';

/** One setting of a git configuration. */
export interface Entry {
  readonly section: string;
  readonly subsection?: string;
  readonly key: string;
  readonly value: string;
}

/** Writes a configuration with these settings in one of the many spellings that git reads the same way. */
export function configText(entries: readonly Entry[]): fc.Arbitrary<string> {
  return fc.oneof(wild(entries), nearlyAsGitWrites(entries));
}

/** One deviation passes a check more easily than many. */
function nearlyAsGitWrites(entries: readonly Entry[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(FORMAT, ''), gap).map(([first, afterEquals]) => {
    const lines = entries.map(({ section, subsection, key, value }) => {
      const name = subsection === undefined ? section : `${section} "${subsection}"`;
      return `[${name}]\n\t${key} =${afterEquals}${isPlain(value) ? value : quote(value)}\n`;
    });
    return `${first}${lines.join('')}`;
  });
}

function wild(entries: readonly Entry[]): fc.Arbitrary<string> {
  return fc
    .tuple(before, fc.tuple(...entries.map(spelled)), fc.constantFrom('\n', '\n', '\r\n'))
    .map(([first, lines, end]) => `${first}${lines.join('')}`.replaceAll('\n', end));
}

const FORMAT = '[core]\n\trepositoryformatversion = 0\n';
const before = fc.constantFrom(
  FORMAT,
  FORMAT,
  '',
  `\ufeff${FORMAT}`,
  '\ufeff',
  '\n\n  \n',
  '# a note\n; another\n',
  '[user] name = a\n',
  '[user]name=a\n[core]bare=false\n',
  '[user]',
);

const gap = fc.constantFrom('', ' ', '\t', ' \t ');
const tail = fc.constantFrom('', '', ' ', '\t', ' ; a note', ' # a note');

function spelled(entry: Entry): fc.Arbitrary<string> {
  return fc
    .record({
      header: header(entry),
      afterHeader: fc.constantFrom('\n\t', '\n', ' ', '', '\t', '\n\n # a note\n  '),
      key: anyCase(entry.key),
      beforeEquals: gap,
      afterEquals: gap,
      value: spelledValue(entry.value),
      tail,
    })
    .map((s) => `${s.header}${s.afterHeader}${s.key}${s.beforeEquals}=${s.afterEquals}${s.value}${s.tail}\n`);
}

/** `[section "sub"]`, or `[section.sub]`, which old versions of git wrote and every version still reads. */
function header({ section, subsection }: Entry): fc.Arbitrary<string> {
  const name = anyCase(section);
  if (subsection === undefined) return name.map((text) => `[${text}]`);
  return fc
    .tuple(name, fc.constantFrom('quoted', 'quoted', 'dotted'))
    .map(([text, how]) =>
      how === 'dotted' && /^[\w-]+$/.test(subsection)
        ? `[${text}.${subsection}]`
        : `[${text} "${subsection.replace(/["\\]/g, '\\$&')}"]`,
    );
}

function anyCase(name: string): fc.Arbitrary<string> {
  const mixed = fc
    .nat()
    .map((bits) => [...name].map((letter, at) => ((bits >> at) & 1 ? letter.toUpperCase() : letter)).join(''));
  return fc.oneof({ weight: 2, arbitrary: fc.constant(name) }, fc.constant(name.toUpperCase()), mixed);
}

function spelledValue(value: string): fc.Arbitrary<string> {
  return fc
    .record({ how: fc.constantFrom('plain', 'plain', 'quoted', 'half quoted', 'continued'), at: fc.nat() })
    .map(({ how, at }) => {
      const place = at % (value.length + 1);
      const plain = isPlain(value) ? value : quote(value);
      switch (how) {
        case 'quoted':
          return quote(value);
        case 'half quoted':
          return isPlain(value.slice(0, place)) ? `${value.slice(0, place)}${quote(value.slice(place))}` : plain;
        case 'continued':
          return continued(plain, place);
        default:
          return plain;
      }
    });
}

/** Splits a value over two lines, but not within a placeholder, which is filled in later, or within an escape. */
function continued(text: string, at: number): string {
  const inside = [...text.matchAll(/@\w+@|\\./g)].some(
    ({ index, 0: match }) => at > index && at < index + match.length,
  );
  return inside || at > text.length ? text : `${text.slice(0, at)}\\\n${text.slice(at)}`;
}

function isPlain(text: string): boolean {
  return !/["\\;#]|^\s|\s$/.test(text);
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
