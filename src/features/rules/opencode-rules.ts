import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { compilePattern, matchPattern } from './pattern.ts';
import type { CommandRule, RuleAction } from './rule.ts';

type RuleFile = Pick<CommandRule, 'file' | 'isOfPerson'>;

/** The name by which OpenCode knows its shell tool in rules. */
const SHELL = 'bash';

/**
 * The rules for commands in a configuration of OpenCode, in its order. `permission` may be one word for everything; its names
 * are patterns too. Throws RangeError for another shape.
 */
export function openCodeRules({ permission }: JsonObject, file: RuleFile): CommandRule[] {
  if (permission === undefined) return [];
  if (!isJsonObject(permission)) return [ruleOf('*', permission, file)];
  return Object.entries(permission).flatMap(([name, rules]) => {
    if (matchPattern(compilePattern(name, true), SHELL) !== 'surely') return [];
    if (!isJsonObject(rules)) return [ruleOf('*', rules, file)];
    return Object.entries(rules).map(([pattern, action]) => ruleOf(pattern, action, file));
  });
}

function ruleOf(pattern: string, action: Json, file: RuleFile): CommandRule {
  return { action: actionOf(action, pattern), rule: pattern, pattern, ...file };
}

function actionOf(value: Json, pattern: string): RuleAction {
  if (value === 'deny' || value === 'ask' || value === 'allow') return value;
  throw new RangeError(`"${pattern}" in "permission" is neither allow nor ask nor deny`);
}
