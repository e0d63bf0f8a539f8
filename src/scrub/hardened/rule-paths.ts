import { firstIndex } from '../../text/binary-search.ts';
import type { Span } from '../../text/offset-map.ts';
import type { GitleaksConfig } from '../exact/config.ts';
import { Pattern } from '../exact/pattern.ts';

/** Characters on each side of a finding that show what kind of file a text is. */
const AROUND_CHARS = 4096;

interface Kind {
  file: string;
  line: RegExp;
  /** Whether a match may go over a line end. Default false. */
  isOverLines?: boolean;
}

/** Files for which rules are made: the name of one, and a line that only such a file has. */
const KINDS: readonly Kind[] = [
  {
    file: 'main.tf',
    line: /^[ \t]*(?:[-+][ \t]+)?(?:(?:resource|data)[ \t]+"[\w-]+"[ \t]+"[\w-]+"|(?:provider|module|variable|output|backend|provisioner|source)[ \t]+"[\w.-]+"|locals|terraform|inputs|credentials)[ \t]*=?[ \t]*\{/m,
  },
  { file: 'secret.yaml', line: /^[ \t-]*["']?[\w.$/-]+["']?:(?:[ \t]|$)/m },
  { file: 'index.php', line: /<\?php|^[ \t]*(?:\$\w+[ \t]*=|'[\w-]+'[ \t]*=>)/m },
  { file: 'nuget.config', line: /<\w+[^>]*>/, isOverLines: true },
];

/**
 * For rules with a `path`: a text has no path here, so its lines around a finding must show that it is a file of that kind. A rule
 * for a kind of files that is not known here applies to every text.
 */
export class RulePaths {
  readonly #kinds = new Map<string, Kind>();

  constructor(configs: readonly GitleaksConfig[]) {
    for (const { rules } of configs)
      for (const { id, path, where } of rules) {
        if (path === '') continue;
        const pattern = new Pattern(path, where);
        const kind = KINDS.find(({ file }) => pattern.test(file));
        if (kind !== undefined) this.#kinds.set(id, kind);
      }
  }

  /** Returns whether a rule may apply to the text around a place. */
  in(text: string): (rule: string, place: Span) => boolean {
    const lines = new Map<Kind, LinesOfKind>();
    return (rule, place) => {
      const kind = this.#kinds.get(rule);
      if (kind === undefined) return true;
      let known = lines.get(kind);
      if (known === undefined) {
        known = new LinesOfKind(text, kind);
        lines.set(kind, known);
      }
      const start = Math.max(0, place.start - AROUND_CHARS);
      return known.areIn({ start, end: Math.min(text.length, place.end + AROUND_CHARS) });
    };
  }
}

/** Where the lines of a kind of files are in a text. It is searched once, however many places are asked about. */
class LinesOfKind {
  readonly #text: string;
  readonly #kind: Kind;
  #starts: readonly number[] | undefined;

  constructor(text: string, kind: Kind) {
    this.#text = text;
    this.#kind = kind;
  }

  /** Whether such a line is in a part of the text. The part may begin and end within a line. */
  areIn({ start, end }: Span): boolean {
    const text = this.#text;
    const firstEnd = text.indexOf('\n', start);
    if (this.#kind.isOverLines === true || firstEnd === -1 || firstEnd >= end) return this.#isIn(start, end);
    const lastStart = text.lastIndexOf('\n', end - 1) + 1;
    return this.#isIn(start, firstEnd) || this.#isAnyBetween(firstEnd + 1, lastStart) || this.#isIn(lastStart, end);
  }

  #isIn(start: number, end: number): boolean {
    return this.#kind.line.test(this.#text.slice(start, end));
  }

  /** Both are starts of lines. */
  #isAnyBetween(start: number, end: number): boolean {
    this.#starts ??= Array.from(this.#text.matchAll(new RegExp(this.#kind.line, 'gm')), ({ index }) => index);
    const starts = this.#starts;
    const next = starts[firstIndex(0, starts.length, (at) => (starts[at] ?? 0) >= start)];
    return next !== undefined && next < end;
  }
}
