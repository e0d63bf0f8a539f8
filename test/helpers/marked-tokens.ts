import type { GitleaksConfig, RuleConfig } from '#src/scrub/exact/config.js';
import { parseGo } from '#src/scrub/exact/go-syntax.js';
import { childrenOf, type GoNode } from '#src/scrub/exact/go-tree.js';
import { sampleOf } from './pattern-samples.ts';

/** A rule, or one alternative of it, whose values can be recognized by a fixed word in them. */
export interface MarkedToken {
  rule: string;
  /** Makes what the rule needs before the token, and a token. */
  sample(random: () => number): { before: string; token: string };
  /** Whether a character can be part of a token. */
  isOfAlphabet(character: string): boolean;
  /** Whether the rule needs something before the token, such as the name of a provider. */
  needsContext: boolean;
}

const MIN_MARK_CHARS = 3;
/** Tokens from which a keyword of the rule is seen missing before it counts as a rule without a mark. */
const TRIES = 40;

/** Every rule of some configurations that has a mark: its tokens begin with the same text, or each contains one of its keywords. */
export function markedTokens(configs: readonly GitleaksConfig[], random: () => number): MarkedToken[] {
  return configs.flatMap(({ rules }) => rules.flatMap((rule) => ofRule(rule, random)));
}

function ofRule(rule: RuleConfig, random: () => number): MarkedToken[] {
  if (rule.regex === '' || rule.secretGroup > 0) return [];
  const tree = parseGo(rule.regex);
  return (tree.kind === 'choice' ? tree.options : [tree]).flatMap((option) => {
    const parts = option.kind === 'sequence' ? option.parts : [option];
    const group = parts.findIndex(({ kind }) => kind === 'group');
    const before = { kind: 'sequence', parts: group === -1 ? [] : parts.slice(0, group) } as const;
    const token = group === -1 ? option : (parts[group] ?? option);
    // A group in a choice is one of many things that the rule finds; a rule may need what follows its group.
    if (hasGroup(before) || (group === -1 && hasGroup(token))) return [];
    const after = { kind: 'sequence', parts: group === -1 ? [] : parts.slice(group + 1) } as const;
    if (!mayBeEmpty(after)) return [];
    const sampled = Array.from({ length: TRIES }, () => sampleOf(token, random).toLowerCase());
    const hasKeyword = (one: string): boolean => rule.keywords.some((word) => word.length > 1 && one.includes(word));
    if (commonBeginning(sampled).length < MIN_MARK_CHARS && !sampled.every(hasKeyword)) return [];
    const sets = setsIn(token);
    const needsContext = !mayBeEmpty(before);
    return {
      rule: rule.id,
      needsContext,
      sample: (next) => ({ before: needsContext ? sampleOf(before, next) : '', token: sampleOf(token, next) }),
      isOfAlphabet: (character) => {
        const code = character.codePointAt(0) ?? 0;
        return sets.some((set) => set.some((low, at) => at % 2 === 0 && code >= low && code <= (set[at + 1] ?? -1)));
      },
    };
  });
}

function commonBeginning([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length);
}

function hasGroup(node: GoNode): boolean {
  return node.kind === 'group' || childrenOf(node).some(hasGroup);
}

function setsIn(node: GoNode): (readonly number[])[] {
  return node.kind === 'chars' ? [node.set] : childrenOf(node).flatMap(setsIn);
}

function mayBeEmpty(node: GoNode): boolean {
  if (node.kind === 'chars') return false;
  if (node.kind === 'assertion') return true;
  if (node.kind === 'repeat') return node.min === 0 || mayBeEmpty(node.of);
  const children = childrenOf(node);
  return node.kind === 'choice' ? children.some(mayBeEmpty) : children.every(mayBeEmpty);
}
