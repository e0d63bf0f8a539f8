import { RE2JS } from 're2js';
import { toolMatcher } from '../../catalog/tool-glob.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ApprovalRule } from '../../stores/approval-rules.ts';

/** What a rule is matched with: the tool's name, and the input of a call with the property that words are the value of. */
export interface MatchedCall {
  tool: string;
  primary: string | null;
  input: JsonObject;
}

export type RuleMatcher = (call: MatchedCall) => boolean;

/**
 * Characters that a pattern is searched in. The search takes time in proportion to them, on the daemon's only thread. A rule
 * asks about any longer text.
 */
const SEARCHED_MAX_CHARS = 65_536;

/** Throws what re2js throws for a pattern that it refuses. Linear in the text for every pattern. */
export function compileRule({ tool, when }: Pick<ApprovalRule, 'tool' | 'when'>): RuleMatcher {
  const isTool = toolMatcher(tool);
  if (when === '') return (call) => isTool(call.tool);
  const pattern = RE2JS.compile(when);
  const isMatch = (text: string): boolean => text.length > SEARCHED_MAX_CHARS || pattern.test(text);
  return (call) => isTool(call.tool) && textsOf(call).some(isMatch);
}

/** A rule that cannot be compiled any more asks about every call of every tool. */
export function compileOrAsk(rule: ApprovalRule): RuleMatcher {
  try {
    return compileRule(rule);
  } catch {
    return () => true;
  }
}

/** The primary text, and the whole input as JSON if the call gives more than that. */
function textsOf({ primary, input }: MatchedCall): string[] {
  const words = primary === null ? undefined : input[primary];
  if (typeof words !== 'string') return [JSON.stringify(input)];
  return Object.keys(input).length === 1 ? [words] : [words, JSON.stringify(input)];
}

/** The whole input as a person reads it: its primary text if it has no other part, otherwise JSON. */
export function inputText(call: MatchedCall): string {
  const texts = textsOf(call);
  return texts.at(-1) ?? '';
}
