import { type CharSet, fold, invert, MAX_CODE_POINT, PERL_SETS, POSIX_SETS, unite } from './char-set.ts';
import { GoSyntaxError } from './go-tree.ts';

const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

export type GoFlag = 'i' | 'm' | 's' | 'U';

/**
 * The text of a pattern and a position in it: reads the tokens of Go's syntax. Every `take…` moves past what it takes.
 */
export class GoReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  peek(ahead = 0): string {
    return this.#text[this.#at + ahead] ?? '';
  }

  skip(length: number): void {
    this.#at += length;
  }

  take(token: string): boolean {
    const found = this.#text.startsWith(token, this.#at);
    if (found) this.#at += token.length;
    return found;
  }

  takeOneOf<Value>(tokens: Readonly<Record<string, Value>>): Value | undefined {
    const value = Object.hasOwn(tokens, this.peek()) ? tokens[this.peek()] : undefined;
    if (value !== undefined) this.#at++;
    return value;
  }

  /** One character, a surrogate pair being one. */
  next(): string {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) throw this.fault('unexpected end');
    const char = String.fromCodePoint(code);
    this.#at += char.length;
    return char;
  }

  /** `{2}`, `{2,}`, `{2,5}`. Anything else in braces is plain text. A number too large to hold is beyond any limit. */
  takeCounts(): readonly [number, number] | undefined {
    const counts = this.#match(/\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/y);
    if (counts === undefined) return undefined;
    const min = Number(counts[1]);
    if (counts[2] === undefined) return [min, min];
    // A written maximum is finite, so that one that is too large is not taken for "no limit".
    return [min, counts[3] === undefined ? Number.POSITIVE_INFINITY : Math.min(Number(counts[3]), Number.MAX_VALUE)];
  }

  /** Behind `\Q`: everything to `\E` or the end. */
  takeQuoted(): string {
    const end = this.#text.indexOf('\\E', this.#at);
    const quoted = this.#text.slice(this.#at, end === -1 ? undefined : end);
    this.#at += quoted.length + (end === -1 ? 0 : 2);
    return quoted;
  }

  /** Behind `(?`: `P<name>` or `<name>`. */
  takeGroupName(): boolean {
    // A rest that is too short is neither a name nor a flag.
    if (!/^(?:P<.|<.)/su.test(this.#text.slice(this.#at, this.#at + 4))) return false;
    if (this.#match(/P?<[A-Za-z0-9_]+>/y) === undefined) throw this.fault('invalid named capture');
    return true;
  }

  /** Behind `(?`: flags, each with whether it is set; whether `:` opens a group with them. */
  takeFlags(): { flags: [GoFlag, boolean][]; opens: boolean } {
    const written = this.#match(/([imsU]*)(?:-([imsU]+))?([:)])/y);
    if (written === undefined) throw this.fault('invalid or unsupported Perl syntax');
    const list = (letters: string | undefined, on: boolean): [GoFlag, boolean][] =>
      [...(letters ?? '')].map((letter) => [letter === 'i' || letter === 'm' || letter === 's' ? letter : 'U', on]);
    return { flags: [...list(written[1], true), ...list(written[2], false)], opens: written[3] === ':' };
  }

  /** After `[`. Returns null if the class has characters that are not known here. */
  takeClass(folds: boolean): CharSet | null {
    const negated = this.take('^');
    const sets: (CharSet | null)[] = [];
    for (let first = true; first || this.peek() !== ']'; first = false) {
      if (this.isAtEnd) throw this.fault('missing closing ]');
      sets.push(this.#classItem(folds));
    }
    this.skip(1);
    const known = sets.filter((set) => set !== null);
    if (known.length < sets.length) return null;
    return negated ? invert(unite(...known)) : unite(...known);
  }

  /** `\pL`, `\p{Greek}`: well formed; never known. */
  takeUnicodeName(): null {
    if (this.#match(/\\[pP](?:\{[^}]*\}|[^{])/suy) === undefined) throw this.fault('invalid character class range');
    return null;
  }

  /** Takes a backslash and returns the character it stands for. */
  takeEscape(): string {
    const octal = this.#match(/\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/y)?.[1];
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    const hex = this.#match(/\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/y);
    if (hex !== undefined) return this.#codePoint(Number.parseInt(hex[1] ?? hex[2] ?? '', 16));
    const char = this.#match(/\\([^\x80-\u{10ffff}])/uy)?.[1] ?? '';
    const control = Object.hasOwn(CONTROL_ESCAPES, char) ? CONTROL_ESCAPES[char] : undefined;
    if (control !== undefined) return control;
    if (char === '' || /[A-Za-z0-9]/.test(char)) throw this.fault('invalid escape sequence');
    return char;
  }

  fault(message: string): GoSyntaxError {
    return new GoSyntaxError(`${message} (at character ${this.#at + 1})`);
  }

  #classItem(folds: boolean): CharSet | null {
    const folded = (set: CharSet): CharSet | null => (folds ? fold(set) : set);
    const posix = this.#match(/\[:(\^?)([\s\S]*?):\]/y);
    if (posix !== undefined) {
      const name = posix[2] ?? '';
      const set = Object.hasOwn(POSIX_SETS, name) ? POSIX_SETS[name] : undefined;
      if (set === undefined) throw this.fault('invalid character class range');
      return inverted(folded(set), posix[1] === '^');
    }
    if (/^\\[pP]/.test(this.peek() + this.peek(1))) return this.takeUnicodeName();
    const perl = this.#match(/\\([dswDSW])/y)?.[1];
    if (perl !== undefined) return inverted(folded(PERL_SETS[perl.toLowerCase()] ?? []), perl < 'a');
    return folded(this.#classRange());
  }

  #classRange(): CharSet {
    const low = this.#classChar();
    if (this.peek() !== '-' || this.peek(1) === ']' || this.peek(1) === '') return [low, low];
    this.skip(1);
    const high = this.#classChar();
    if (high < low) throw this.fault('invalid character class range');
    return [low, high];
  }

  #classChar(): number {
    return (this.peek() === '\\' ? this.takeEscape() : this.next()).codePointAt(0) ?? 0;
  }

  #codePoint(code: number): string {
    if (code > MAX_CODE_POINT) throw this.fault('invalid escape sequence');
    return String.fromCodePoint(code);
  }

  #match(token: RegExp): RegExpExecArray | undefined {
    token.lastIndex = this.#at;
    const found = token.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at = token.lastIndex;
    return found;
  }
}

function inverted(set: CharSet | null, isInverted: boolean): CharSet | null {
  return set !== null && isInverted ? invert(set) : set;
}
