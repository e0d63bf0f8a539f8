import { pairsOf } from './exact/char-set.ts';
import type { RuleConfig } from './exact/config.ts';
import { parseGo } from './exact/go-syntax.ts';
import { childrenOf, type GoNode } from './exact/go-tree.ts';
import { loadConfig, loadPackFile } from './exact/load-config.ts';
import type { RuleSources } from './exact/rule-pack.ts';

/** Bits of a secret that nobody can find by trying values. */
const STRONG_BITS = 64;

/**
 * Whether every secret that a rule of this installation finds has at least 64 bits, by what its pattern demands. False for the rules
 * of a project, and for one that also takes what people make up, such as passwords. The rules are read at the first question.
 */
export function strongRules(readSources: () => RuleSources): (rule: string) => boolean {
  let configs: ReadonlyMap<string, RuleConfig> | undefined;
  const answers = new Map<string, boolean>();
  return (rule) => {
    configs ??= configsOf(readSources());
    const config = configs.get(rule);
    const known = answers.get(rule);
    if (config === undefined || known !== undefined) return known ?? false;
    const isStrong = bitsOfSecret(config) >= STRONG_BITS;
    answers.set(rule, isStrong);
    return isStrong;
  };
}

function configsOf({ pack, official }: RuleSources): ReadonlyMap<string, RuleConfig> {
  const deps = { readFile: () => '', official: official.text };
  const files = [...pack.map(loadPackFile), loadConfig(official, deps)];
  const rules = files.flatMap((file) => file.rules);
  // Of two rules with one name neither says what the secret is.
  const isTwice = (id: string): boolean => rules.filter((rule) => rule.id === id).length > 1;
  return new Map(rules.filter(({ id }) => !isTwice(id)).map((rule) => [rule.id, rule]));
}

/** The bits of the part of a match that is the secret, at least. */
export function bitsOfSecret({ regex, secretGroup }: Pick<RuleConfig, 'regex' | 'secretGroup'>): number {
  if (regex === '') return 0;
  const tree = parseGo(regex);
  const groups = groupsOf(tree).filter(({ index }) => secretGroup === 0 || index === secretGroup);
  // Without a named group it is the first one that is not empty.
  return groups.length === 0 ? bitsOf(tree) : Math.min(...groups.map(({ of }) => bitsOf(of)));
}

type Group = Extract<GoNode, { kind: 'group' }>;

function groupsOf(node: GoNode): Group[] {
  return [...(node.kind === 'group' ? [node] : []), ...childrenOf(node).flatMap(groupsOf)];
}

/** Both cases of a letter are one choice, as in a keyword. */
const CASES = 2;
/** What tokens are made of. A rule that takes more also takes what people think of, which may be the same character again and again. */
const TOKEN_CHARS = /^[A-Za-z0-9+/=_.~:-]$/;

function bitsOf(node: GoNode): number {
  switch (node.kind) {
    case 'chars': {
      const chars = pairsOf(node.set).flatMap(([low, high]) => (high > 0x7f ? [] : charsBetween(low, high)));
      const size = pairsOf(node.set).reduce((sum, [low, high]) => sum + high - low + 1, 0);
      const isOfToken = node.isKnown && chars.length === size && chars.every((char) => TOKEN_CHARS.test(char));
      return isOfToken && size > CASES ? Math.log2(size) : 0;
    }
    case 'assertion':
      return 0;
    case 'choice':
      return Math.min(...node.options.map(bitsOf));
    case 'repeat':
      return node.min * bitsOf(node.of);
    case 'sequence':
      return node.parts.reduce((sum, part) => sum + bitsOf(part), 0);
    case 'group':
      return bitsOf(node.of);
  }
}

function charsBetween(low: number, high: number): string[] {
  return Array.from({ length: high - low + 1 }, (_, index) => String.fromCharCode(low + index));
}
