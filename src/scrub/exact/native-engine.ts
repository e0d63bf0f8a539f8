import type { Span } from '../../text/offset-map.ts';
import { type CharSet, contains, MAX_CODE_POINT, pairsOf } from './char-set.ts';
import { childrenOf, dependsOnPairs, type GoNode, minLength } from './go-tree.ts';
import { type Engine, findInParts } from './linear-engine.ts';

/** `[set]{0,max}?` before the rest of a pattern. */
interface Run {
  readonly has: (code: number) => boolean;
  readonly max: number;
}

const FIRST_SURROGATE = 0xd800;
const SURROGATE = /[\ud800-\udfff]/;

/** The answers for the last long texts: rules ask about the same text, or it with a line end, one after another. */
const answers: { text: string; hasSurrogates: boolean }[] = [];
const MAX_ANSWERS = 2;
const LONG_CHARS = 1024;

function hasSurrogates(text: string): boolean {
  if (text.length < LONG_CHARS) return SURROGATE.test(text);
  const known = answers.find((answer) => answer.text === text);
  if (known !== undefined) return known.hasSurrogates;
  const answer = { text, hasSurrogates: SURROGATE.test(text) };
  answers.unshift(answer);
  answers.length = Math.min(answers.length, MAX_ANSWERS);
  return answer.hasSurrogates;
}

/**
 * A pattern as a JavaScript regular expression. Only for trees that `isTranslatable`; time is linear only for patterns
 * that passed an attack search. Throws RangeError if backtracking outgrows V8's stack. What a pattern optionally takes
 * before its first word (`[\w.-]{0,50}?key…`) is left out of the expression and found backwards from each match of the
 * rest. The match is the same: the place of the rest that comes first can be reached from every start that a later
 * place can be reached from, and a lazy run prefers it.
 */
export class NativeEngine implements Engine {
  readonly #runs: readonly Run[];
  readonly #rest: GoNode;
  readonly #dependsOnPairs: boolean;
  readonly #compiled = new Map<string, RegExp>();
  /** Whether `groups` may be called. */
  readonly hasGroups: boolean;

  constructor(tree: GoNode) {
    const { runs, rest } = splitRuns(tree);
    this.#runs = runs;
    this.#rest = factored(rest);
    this.#dependsOnPairs = dependsOnPairs(rest);
    this.hasGroups = hasSameGroups(tree);
  }

  test(text: string): boolean {
    const expression = this.#expression(text, false);
    expression.lastIndex = 0;
    return expression.test(text);
  }

  findAll(text: string, parts?: readonly Span[]): Span[] {
    const expression = this.#expression(text, false);
    if (parts === undefined) return this.#findWith(expression, text);
    return findInParts(text, parts, (part) => this.#findWith(expression, part));
  }

  #findWith(expression: RegExp, text: string): Span[] {
    const found: Span[] = [];
    expression.lastIndex = 0;
    let after = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      const end = expression.lastIndex;
      const start = this.#runs.length === 0 ? match.index : this.#startOf(text, match.index, after);
      found.push({ start, end });
      after = end;
      if (end === match.index) expression.lastIndex++;
    }
    return found;
  }

  groups(text: string): (Span | undefined)[] {
    const expression = this.#expression(text, true);
    expression.lastIndex = 0;
    const places = expression.exec(text)?.indices?.slice(1) ?? [];
    return places.map((place) => (place === undefined ? undefined : { start: place[0], end: place[1] }));
  }

  #startOf(text: string, restStart: number, least: number): number {
    let start = restStart;
    for (const { has, max } of this.#runs) {
      const stop = Math.max(least, start - max);
      while (start > stop && has(text.charCodeAt(start - 1))) start--;
    }
    return start;
  }

  #expression(text: string, groups: boolean): RegExp {
    const pairs = this.#dependsOnPairs && hasSurrogates(text);
    const flags = `g${groups ? 'd' : ''}${pairs ? 'u' : ''}`;
    const known = this.#compiled.get(flags);
    if (known !== undefined) return known;
    const expression = new RegExp(emitNative(this.#rest, { pairs, groups }), flags);
    this.#compiled.set(flags, expression);
    return expression;
  }
}

/** A shorter choice is tried quickly enough. */
const MIN_OPTIONS = 8;

/**
 * The same pattern, in which neighbouring options of a long choice that begin with the same character share it:
 * `adobe|adyen` becomes `ad(?:obe|yen)`. JavaScript tries the options of a choice one by one.
 */
function factored(node: GoNode): GoNode {
  switch (node.kind) {
    case 'sequence':
      return { ...node, parts: node.parts.map(factored) };
    case 'group':
    case 'repeat':
      return { ...node, of: factored(node.of) };
    case 'choice': {
      const options = node.options.map(factored);
      return options.length < MIN_OPTIONS ? { ...node, options } : { ...node, options: sharingFirst(options) };
    }
    default:
      return node;
  }
}

function sharingFirst(options: readonly GoNode[]): GoNode[] {
  const shared: { first: string | null; rests: GoNode[]; parts: readonly GoNode[] }[] = [];
  for (const option of options) {
    const parts = partsOf(option);
    const [head] = parts;
    const first = head?.kind === 'chars' ? head.set.join() : null;
    const last = shared.at(-1);
    const rest: GoNode = { kind: 'sequence', parts: parts.slice(1) };
    if (first !== null && last?.first === first) last.rests.push(rest);
    else shared.push({ first, rests: [rest], parts });
  }
  return shared.map(({ rests, parts }) => {
    const [head] = parts;
    if (rests.length === 1 || head === undefined) return { kind: 'sequence', parts };
    return { kind: 'sequence', parts: [head, { kind: 'choice', options: sharingFirst(rests) }] };
  });
}

/** The lazy runs a pattern begins with, last one first, and what follows them. */
function splitRuns(tree: GoNode): { runs: readonly Run[]; rest: GoNode } {
  const parts = partsOf(tree);
  const runs: Run[] = [];
  for (const part of parts) {
    const run = asRun(part);
    if (run === undefined) break;
    runs.unshift(run);
  }
  const rest: GoNode = { kind: 'sequence', parts: parts.slice(runs.length) };
  return runs.length > 0 && minLength(rest) > 0 ? { runs, rest } : { runs: [], rest: tree };
}

/** Sequences are opened, groups are not: they must go on capturing. */
function partsOf(node: GoNode): readonly GoNode[] {
  return node.kind === 'sequence' ? node.parts.flatMap(partsOf) : [node];
}

function asRun(part: GoNode): Run | undefined {
  if (part.kind !== 'repeat' || part.min > 0 || !part.lazy || part.of.kind !== 'chars') return undefined;
  const { set } = part.of;
  // A run must not end inside a surrogate pair.
  if ((set.at(-1) ?? 0) >= FIRST_SURROGATE) return undefined;
  const ascii = Uint8Array.from({ length: 0x80 }, (_, code) => (contains(set, code) ? 1 : 0));
  return { has: (code) => (code < 0x80 ? ascii[code] === 1 : contains(set, code)), max: part.max };
}

interface EmitOptions {
  /** For texts with surrogate pairs: a pair is one character. The `u` flag must be set. */
  pairs: boolean;
  /** Whether groups capture. */
  groups: boolean;
}

const ASSERTIONS = {
  'text start': '^',
  'text end': '$',
  'line start': '(?<![^\\n])',
  'line end': '(?![^\\n])',
  'word edge': '\\b',
  'no word edge': '\\B',
} as const;

/**
 * The source of a JavaScript regular expression that matches what Go's matches, with no flag but `u` (see EmitOptions).
 * Only for trees that `isTranslatable`.
 */
export function emitNative(node: GoNode, options: EmitOptions): string {
  switch (node.kind) {
    case 'chars':
      return emitChars(node.set, options.pairs);
    case 'assertion':
      return ASSERTIONS[node.which];
    case 'sequence':
      return node.parts.map((part) => emitPart(part, options)).join('');
    case 'choice':
      return node.options.map((option) => emitNative(option, options)).join('|');
    case 'group':
      return `${options.groups ? '(' : '(?:'}${emitNative(node.of, options)})`;
    case 'repeat':
      return emitAtom(node.of, options) + emitCounts(node.min, node.max) + (node.lazy ? '?' : '');
  }
}

/**
 * Whether JavaScript finds the same matches with the translated pattern. Letters beyond ASCII under (?i) and \p are not
 * translated, a repetition of something that may be empty ends differently in JavaScript, and V8 finds empty matches
 * between two surrogates.
 */
export function isTranslatable(tree: GoNode): boolean {
  return minLength(tree) > 0 && isExpressible(tree);
}

function isExpressible(node: GoNode): boolean {
  if (node.kind === 'chars') return node.isKnown;
  if (node.kind === 'repeat' && node.min < node.max && minLength(node.of) === 0) return false;
  return childrenOf(node).every(isExpressible);
}

/** Whether the groups are the same too: JavaScript resets a group at each turn of a repetition, Go does not. */
export function hasSameGroups(node: GoNode, isRepeated = false): boolean {
  if (node.kind === 'group' && isRepeated) return false;
  const repeats = isRepeated || (node.kind === 'repeat' && node.max > 1);
  return childrenOf(node).every((child) => hasSameGroups(child, repeats));
}

function emitPart(node: GoNode, options: EmitOptions): string {
  return node.kind === 'choice' ? `(?:${emitNative(node, options)})` : emitNative(node, options);
}

function emitAtom(node: GoNode, options: EmitOptions): string {
  const source = emitNative(node, options);
  return node.kind === 'chars' || node.kind === 'group' ? source : `(?:${source})`;
}

function emitCounts(min: number, max: number): string {
  if (max === Number.POSITIVE_INFINITY) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  return min === 0 && max === 1 ? '?' : min === max ? `{${min}}` : `{${min},${max}}`;
}

function emitChars(set: CharSet, pairs: boolean): string {
  const last = pairs ? MAX_CODE_POINT : 0xffff;
  const ranges = pairsOf(set).filter(([low]) => low <= last);
  const [first] = ranges;
  if (ranges.length === 1 && first !== undefined && first[0] === first[1]) return emitChar(first[0]);
  return `[${ranges.map(([low, high]) => emitRange(low, Math.min(high, last))).join('')}]`;
}

function emitRange(low: number, high: number): string {
  return low === high ? emitChar(low) : `${emitChar(low)}-${emitChar(high)}`;
}

function emitChar(code: number): string {
  const char = String.fromCodePoint(code);
  if (/[A-Za-z0-9_]/.test(char)) return char;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
