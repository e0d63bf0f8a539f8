import { type CharSet, invert, pairsOf, unite } from '../exact/char-set.ts';
import type { RuleConfig } from '../exact/config.ts';
import { emitGo } from '../exact/emit-go.ts';
import { parseGo } from '../exact/go-syntax.ts';
import {
  childrenOf,
  type GoNode,
  GoSyntaxError,
  groupCountOf,
  isKnownThroughout,
  minLength,
} from '../exact/go-tree.ts';

/**
 * The same rule, in which a token with a mark ends where its alphabet ends. Many rules of gitleaks want a quote or a blank
 * behind a token, or the edge of a word, so they miss it before a comma, a colon or a bracket. What the rule finds as it is
 * written it finds here too.
 *
 * A token has a mark if each text that it can be contains a fixed word of two or more characters, such as a provider's
 * prefix. What its pattern has before and behind it counts as a border only if it may be empty: `(?:['"\s]|$)`, `\b`.
 * Anything else is syntax that the rule needs, such as a name or a closing quote.
 */
export function withTokenEnd(rule: RuleConfig): RuleConfig {
  if (!MAY_HAVE_BORDER.test(rule.regex) || rule.secretGroup > 0) return rule;
  const tree = parsed(rule.regex);
  if (tree === null || !isKnownThroughout(tree)) return rule;
  const options = tree.kind === 'choice' ? tree.options : [tree];
  const widened = options.map(widenedOption);
  if (widened.every((option, at) => option === options[at])) return rule;
  return { ...rule, regex: emitGo({ kind: 'choice', options: widened }) };
}

/** Cheaper than parsing a pattern: a border holds an assertion. */
const MAY_HAVE_BORDER = /[$^]|\\[bBAz]/;

/** Null for a pattern that Go refuses; compiling it names the rule. */
function parsed(pattern: string): GoNode | null {
  try {
    return parseGo(pattern);
  } catch (thrown) {
    if (thrown instanceof GoSyntaxError) return null;
    throw thrown;
  }
}

function widenedOption(option: GoNode): GoNode {
  const found = tokenIn(option);
  if (found === null) return option;
  const { before, token, after } = found;
  const [isBegun, isEnded] = [isBorder(before), isBorder(after)];
  const endings = isBegun || isEnded ? endingsOf(token) : [];
  if (!endings.some(isMarked)) return option;
  const behind = endings.map((ending) =>
    sequence([
      { kind: 'group', index: 0, of: ending },
      isEnded && isMarked(ending) ? widened(after, 'line end', lastLetters(ending)) : sequence(after),
    ]),
  );
  const begin = isBegun ? widened(before, 'line start', withoutSigns(lettersOf(token))) : sequence(before);
  return sequence([begin, { kind: 'choice', options: behind }]);
}

/** Whether something stands beside a token that may be empty. */
function isBorder(parts: readonly GoNode[]): boolean {
  return parts.length > 0 && minLength(sequence(parts)) === 0;
}

interface Token {
  before: readonly GoNode[];
  token: GoNode;
  after: readonly GoNode[];
}

/** What an option of a pattern captures; without a group, all but the assertions around it. Null: it is not one part. */
function tokenIn(option: GoNode): Token | null {
  const parts = partsOf(option);
  const groups = parts.flatMap((part, at) => (groupCountOf(part) > 0 ? [at] : []));
  const [at, ...others] = groups;
  if (at === undefined) {
    const start = parts.findIndex(({ kind }) => kind !== 'assertion');
    const end = parts.findLastIndex(({ kind }) => kind !== 'assertion') + 1;
    const token = sequence(parts.slice(start, end));
    if (start === -1 || (start === 0 && end === parts.length) || hasAssertion(token)) return null;
    return { before: parts.slice(0, start), token, after: parts.slice(end) };
  }
  const group = parts[at];
  if (group?.kind !== 'group' || others.length > 0) return null;
  return { before: parts.slice(0, at), token: withoutGroups(group), after: parts.slice(at + 1) };
}

/** Characters of a mark; one of them is a letter or digit. */
const MIN_MARK_CHARS = 2;

/** Whether each text that a token can be contains a fixed word. */
function isMarked(token: GoNode): boolean {
  if (token.kind === 'choice') return token.options.every(isMarked);
  if (token.kind === 'repeat') return token.min > 0 && isMarked(token.of);
  let word = '';
  for (const part of partsOf(token)) {
    const letters = fixedLetters(part);
    word = letters === '' ? '' : word + letters;
    if (word.length >= MIN_MARK_CHARS && /[a-z0-9]/.test(word)) return true;
    if (part.kind !== 'chars' && part.kind !== 'assertion' && isMarked(part)) return true;
  }
  return false;
}

/** One character, or the same one several times. Empty if the part of a pattern is anything else. */
function fixedLetters(part: GoNode): string {
  if (part.kind === 'chars') return fixedLetter(part.set) ?? '';
  if (part.kind !== 'repeat' || part.of.kind !== 'chars' || part.min !== part.max) return '';
  return (fixedLetter(part.of.set) ?? '').repeat(part.min);
}

/** The only character of a set, in lower case, if its cases count as one. */
function fixedLetter(set: CharSet): string | null {
  const letters = new Set<string>();
  for (const [low, high] of pairsOf(set)) {
    if (low !== high) return null;
    letters.add(foldedLetter(low));
  }
  const [letter = null] = letters;
  return letters.size === 1 ? letter : null;
}

/** The letters beyond ASCII that fold to k and s. */
const ODD_CASES: Readonly<Record<string, string>> = { '\u212a': 'k', '\u017f': 's' };

function foldedLetter(code: number): string {
  const letter = String.fromCodePoint(code);
  return ODD_CASES[letter] ?? letter.toLowerCase();
}

/**
 * The same token without what may be missing at its end, in the order in which it would be tried: with the last optional
 * part, without it. So each of them has one alphabet at its end.
 */
function endingsOf(node: GoNode): GoNode[] {
  switch (node.kind) {
    case 'assertion':
      return [];
    case 'chars':
      return [node];
    case 'group':
      return endingsOf(node.of);
    case 'choice':
      return node.options.flatMap(endingsOf);
    case 'repeat':
      if (node.max <= 1) return node.max === 0 ? [] : endingsOf(node.of);
      return [{ ...node, min: Math.max(1, node.min) }];
    case 'sequence': {
      const endings: GoNode[] = [];
      for (let at = node.parts.length - 1; at >= 0; at--) {
        const part = node.parts[at];
        if (part === undefined) break;
        const before = node.parts.slice(0, at);
        endings.push(...endingsOf(part).map((ending) => sequence([...before, ending])));
        if (minLength(part) > 0) break;
      }
      return endings;
    }
  }
}

/** A sign before a mark separates it from a word, even if tokens have such signs: `old_ghp_…`. */
function withoutSigns(letters: CharSet): CharSet {
  return invert(unite(invert(letters), SIGNS));
}

/** `-`, `.` and `_`, in order of their codes. */
const SIGNS: CharSet = [0x2d, 0x2e, 0x5f, 0x5f];
const LINE_END: CharSet = [0x0a, 0x0a];

/** A border that is also at the end of a line, and beside every character that is not one of some letters. */
function widened(parts: readonly GoNode[], which: 'line start' | 'line end', letters: CharSet): GoNode {
  const options: GoNode[] = [sequence(parts), { kind: 'assertion', which }];
  const others = invert(unite(letters, LINE_END));
  if (others.length > 0) options.push({ kind: 'chars', set: others, isKnown: true });
  return { kind: 'choice', options };
}

/** Fewer characters are a fixed ending, such as `AA` or `_mmk`: what stands before it belongs to the alphabet too. */
const MIN_LETTERS = 5;

/** The alphabet at the end of a token. */
function lastLetters(token: GoNode): CharSet {
  let letters: CharSet = [];
  for (const part of partsOf(token).toReversed()) {
    letters = unite(letters, lettersOf(part));
    if (pairsOf(letters).reduce((sum, [low, high]) => sum + high - low + 1, 0) >= MIN_LETTERS) break;
  }
  return letters;
}

function hasAssertion(node: GoNode): boolean {
  return node.kind === 'assertion' || childrenOf(node).some(hasAssertion);
}

function lettersOf(node: GoNode): CharSet {
  return node.kind === 'chars' ? node.set : unite(...childrenOf(node).map(lettersOf));
}

function partsOf(node: GoNode): readonly GoNode[] {
  return node.kind === 'sequence' ? node.parts.flatMap(partsOf) : [node];
}

function withoutGroups(node: GoNode): GoNode {
  switch (node.kind) {
    case 'group':
      return withoutGroups(node.of);
    case 'repeat':
      return { ...node, of: withoutGroups(node.of) };
    case 'choice':
      return { ...node, options: node.options.map(withoutGroups) };
    case 'sequence':
      return { ...node, parts: node.parts.map(withoutGroups) };
    default:
      return node;
  }
}

function sequence(parts: readonly GoNode[]): GoNode {
  return { kind: 'sequence', parts };
}
