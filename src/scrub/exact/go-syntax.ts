import { type CharSet, EVERY_CHAR, fold, invert, PERL_SETS } from './char-set.ts';
import { GoReader } from './go-reader.ts';
import { checkSize, type GoNode, repeatsFit } from './go-tree.ts';

/**
 * Parses a pattern as Go 1.26's regexp package does, with its Perl flags. Throws GoSyntaxError if Go refuses it.
 * Whether a `\p{name}` exists is left to `re2js`, which has the tables.
 */
export function parseGo(source: string): GoNode {
  const parser = new Parser(source);
  const root = parser.parse();
  checkSize(root);
  return root;
}

interface Flags {
  readonly fold: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
  readonly swapGreed: boolean;
}

/** An open parenthesis. `flags` apply again when it closes; group 0 captures nothing. */
interface Level {
  readonly flags: Flags;
  readonly group: number;
  readonly options: GoNode[];
  parts: GoNode[];
}

const MAX_REPEAT = 1000;
const NOT_LINE_END = invert([0x0a, 0x0a]);
const ASSERTIONS = { A: 'text start', z: 'text end', b: 'word edge', B: 'no word edge' } as const;
const SIMPLE_REPEATS = { '*': [0, Number.POSITIVE_INFINITY], '+': [1, Number.POSITIVE_INFINITY], '?': [0, 1] } as const;

class Parser {
  readonly #in: GoReader;
  readonly #outer: Level[] = [];
  #flags: Flags = { fold: false, multiline: false, dotAll: false, swapGreed: false };
  #level: Level = { flags: this.#flags, group: 0, options: [], parts: [] };
  #groups = 0;

  constructor(source: string) {
    this.#in = new GoReader(source);
  }

  parse(): GoNode {
    let afterRepeat = false;
    while (!this.#in.isAtEnd) afterRepeat = this.#item(afterRepeat);
    if (this.#outer.length > 0) throw this.#in.fault('missing closing )');
    return closeLevel(this.#level);
  }

  /** Reads one item. Returns whether it was a repetition, because a second one must not follow it. */
  #item(afterRepeat: boolean): boolean {
    const input = this.#in;
    const simple = input.takeOneOf(SIMPLE_REPEATS);
    if (simple !== undefined) return this.#repeat(simple, afterRepeat);
    const counted = input.takeCounts();
    if (counted !== undefined) return this.#repeat(counted, afterRepeat);
    if (input.take('(?')) this.#openSpecial();
    else if (input.take('(')) this.#open(++this.#groups);
    else if (input.take('|')) this.#nextOption();
    else if (input.take(')')) this.#close();
    else if (input.take('\\Q')) for (const char of input.takeQuoted()) this.#char(char);
    else if (input.take('^')) this.#assert(this.#flags.multiline ? 'line start' : 'text start');
    else if (input.take('$')) this.#assert(this.#flags.multiline ? 'line end' : 'text end');
    else if (input.take('.')) this.#chars(this.#flags.dotAll ? EVERY_CHAR : NOT_LINE_END);
    else if (input.take('[')) this.#chars(input.takeClass(this.#flags.fold));
    else if (input.peek() === '\\') this.#escape();
    else this.#char(input.next());
    return false;
  }

  #escape(): void {
    const letter = this.#in.peek(1);
    for (const [name, which] of Object.entries(ASSERTIONS))
      if (letter === name) {
        this.#in.skip(2);
        this.#assert(which);
        return;
      }
    if (letter === 'p' || letter === 'P') this.#chars(this.#in.takeUnicodeName());
    else if (/[dswDSW]/.test(letter)) this.#perlSet(letter);
    else this.#char(this.#in.takeEscape());
  }

  #perlSet(letter: string): void {
    this.#in.skip(2);
    const set = this.#folded(PERL_SETS[letter.toLowerCase()] ?? []);
    this.#chars(set !== null && letter < 'a' ? invert(set) : set);
  }

  #openSpecial(): void {
    if (this.#in.takeGroupName()) this.#open(++this.#groups);
    else this.#openFlags();
  }

  #openFlags(): void {
    let { fold, multiline, dotAll, swapGreed } = this.#flags;
    const { flags, opens } = this.#in.takeFlags();
    for (const [flag, on] of flags) {
      if (flag === 'i') fold = on;
      else if (flag === 'm') multiline = on;
      else if (flag === 's') dotAll = on;
      else swapGreed = on;
    }
    if (opens) this.#open(0);
    this.#flags = { fold, multiline, dotAll, swapGreed };
  }

  #open(group: number): void {
    this.#outer.push(this.#level);
    this.#level = { flags: this.#flags, group, options: [], parts: [] };
  }

  #nextOption(): void {
    this.#level.options.push(sequenceOf(this.#level.parts));
    this.#level.parts = [];
  }

  #close(): void {
    const outer = this.#outer.pop();
    if (outer === undefined) throw this.#in.fault('unexpected )');
    const inner = closeLevel(this.#level);
    outer.parts.push(this.#level.group > 0 ? { kind: 'group', index: this.#level.group, of: inner } : inner);
    this.#flags = this.#level.flags;
    this.#level = outer;
  }

  #repeat([min, max]: readonly [number, number], afterRepeat: boolean): boolean {
    const lazy = this.#in.take('?') !== this.#flags.swapGreed;
    if (afterRepeat) throw this.#in.fault('invalid nested repetition operator');
    const of = this.#level.parts.pop();
    if (of === undefined) throw this.#in.fault('missing argument to repetition operator');
    const node: GoNode = { kind: 'repeat', of, min, max, lazy };
    if (min > MAX_REPEAT || (max !== Number.POSITIVE_INFINITY && (max > MAX_REPEAT || min > max)) || !repeatsFit(node))
      throw this.#in.fault('invalid repeat count');
    this.#level.parts.push(node);
    return true;
  }

  #assert(which: (GoNode & { kind: 'assertion' })['which']): void {
    this.#level.parts.push({ kind: 'assertion', which });
  }

  #char(char: string): void {
    const code = char.codePointAt(0) ?? 0;
    this.#chars(this.#folded([code, code]));
  }

  #folded(set: CharSet): CharSet | null {
    return this.#flags.fold ? fold(set) : set;
  }

  #chars(set: CharSet | null): void {
    this.#level.parts.push({ kind: 'chars', set: set ?? EVERY_CHAR, isKnown: set !== null });
  }
}

function closeLevel({ options, parts }: Level): GoNode {
  const last = sequenceOf(parts);
  return options.length === 0 ? last : { kind: 'choice', options: [...options, last] };
}

function sequenceOf(parts: readonly GoNode[]): GoNode {
  const only = parts.length === 1 ? parts[0] : undefined;
  return only ?? { kind: 'sequence', parts };
}
