/** Shorter ones stand in too many lines to be worth a search. */
const MIN_CHARS = 3;

const META = new Set('\\^$.|?*+()[]{}');
const REPEAT = /\{\d+(?:,\d*)?\}/y;

/** Whether a pattern has nothing but plain characters: it matches itself. */
export function isPlain(pattern: string): boolean {
  return ![...META].some((character) => pattern.includes(character));
}

/**
 * Returns the longest text that every match of a RE2 pattern contains, so that most lines need not be matched; null if
 * none is found easily. Groups, classes, alternatives and repeated characters are skipped.
 */
export function requiredLiteral(pattern: string): string | null {
  const runs = new Runs();
  for (let at = 0; at < pattern.length; ) {
    const step = takeStep(pattern, at, runs);
    if (step === null) return null;
    at = step;
  }
  return runs.longest();
}

/** Reads what stands at `at` and gives where the next thing begins; null: not understood, or an alternative. */
function takeStep(pattern: string, at: number, runs: Runs): number | null {
  const character = pattern.charAt(at);
  if (!META.has(character)) {
    runs.add(character);
    return at + 1;
  }
  switch (character) {
    case '\\':
      return takeEscape(pattern, at, runs);
    case '[':
      runs.end();
      return classEnd(pattern, at);
    case '(':
      runs.end();
      return groupEnd(pattern, at);
    case '*':
    case '?':
      runs.dropLast();
      return at + 1;
    case '{':
      runs.dropLast();
      return repeatEnd(pattern, at);
    case '.':
    case '^':
    case '$':
    case '+':
      runs.end();
      return at + 1;
    default:
      return null;
  }
}

/** Of escapes with a letter or digit only those that stand for one character or none are known. */
function takeEscape(pattern: string, at: number, runs: Runs): number | null {
  const escaped = pattern.charAt(at + 1);
  if (/[A-Za-z0-9]/.test(escaped) || escaped === '') {
    runs.end();
    return /[dDwWsSbBAz]/.test(escaped) ? at + 2 : null;
  }
  runs.add(escaped);
  return at + 2;
}

/** A brace that is not a repetition stands for itself; too rare to be handled. */
function repeatEnd(pattern: string, at: number): number | null {
  REPEAT.lastIndex = at;
  return REPEAT.test(pattern) ? REPEAT.lastIndex : null;
}

function classEnd(pattern: string, from: number): number | null {
  let at = from + 1;
  if (pattern.charAt(at) === '^') at += 1;
  // A bracket that comes first stands for itself.
  if (pattern.charAt(at) === ']') at += 1;
  while (at < pattern.length) {
    if (pattern.startsWith('[:', at)) {
      const named = pattern.indexOf(':]', at + 2);
      // Two characters that begin no name: the next bracket may or may not close the class.
      if (named === -1 || !/^[a-z^]+$/.test(pattern.slice(at + 2, named))) return null;
      at = named + 2;
    } else if (pattern.charAt(at) === ']') return at + 1;
    else at += pattern.charAt(at) === '\\' ? 2 : 1;
  }
  return null;
}

/** Flags are not followed: they may make the rest case-insensitive. */
function groupEnd(pattern: string, from: number): number | null {
  if (/^\((?:\?(?!:|P?<))/.test(pattern.slice(from, from + 4))) return null;
  let depth = 0;
  for (let at: number | null = from; at !== null && at < pattern.length; ) {
    const character = pattern.charAt(at);
    if (character === '(') {
      if (pattern.startsWith('(?', at) && !/^\(\?(?::|P?<)/.test(pattern.slice(at, at + 4))) return null;
      depth += 1;
    }
    if (character === ')') depth -= 1;
    if (depth === 0) return at + 1;
    if (pattern.startsWith('\\Q', at)) return null;
    if (character === '[') at = classEnd(pattern, at);
    else at += character === '\\' ? 2 : 1;
  }
  return null;
}

/** Collects runs of plain characters. */
class Runs {
  #run = '';
  #longest = '';

  add(character: string): void {
    // Halves of a pair are one character to RE2, and a line end is in no line.
    if (/[\ud800-\udfff\n]/.test(character)) this.end();
    else this.#run += character;
  }

  end(): void {
    if (this.#run.length > this.#longest.length) this.#longest = this.#run;
    this.#run = '';
  }

  /** The character before is repeated, maybe not once. */
  dropLast(): void {
    this.#run = this.#run.slice(0, -1);
    this.end();
  }

  longest(): string | null {
    this.end();
    return this.#longest.length < MIN_CHARS ? null : this.#longest;
  }
}
