import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { CommandRule, RuleAction } from './rule.ts';

type RuleFile = Pick<CommandRule, 'file' | 'isOfPerson'>;

const ACTIONS: readonly RuleAction[] = ['deny', 'ask', 'allow'];

/** The rules for commands in a settings file of Claude Code. Throws RangeError for `permissions` of another shape. */
export function claudeRules({ permissions }: JsonObject, file: RuleFile): CommandRule[] {
  if (permissions === undefined) return [];
  if (!isJsonObject(permissions)) throw new RangeError('"permissions" is not an object');
  return ACTIONS.flatMap((action) =>
    textsOf(permissions[action], action).flatMap((rule) => {
      const pattern = patternOf(rule);
      return pattern === null || isOwn(pattern) ? [] : [{ action, rule, pattern, ...file }];
    }),
  );
}

function textsOf(value: Json | undefined, name: string): string[] {
  if (value === undefined) return [];
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : null;
  if (texts === null || !Array.isArray(value) || texts.length < value.length)
    throw new RangeError(`"permissions.${name}" is not a list of texts`);
  return texts;
}

/** Null: the rule is about another tool. `Bash(git push:*)` is `Bash(git push *)`. A bracket that is missing is not minded. */
function patternOf(rule: string): string | null {
  const [, body] = /^\s*Bash\s*(?:\((.*?)\)?)?\s*$/s.exec(rule) ?? [];
  if (body === undefined) return /^\s*Bash\s*$/.test(rule) ? '*' : null;
  return body.endsWith(':*') ? `${body.slice(0, -2)} *` : body;
}

/**
 * True for what `ctxd init` denies the client: commands of a person. In a sandbox they reach nothing, and a rule that every
 * project has would ask about every command with unknown words.
 */
function isOwn(pattern: string): boolean {
  return /^\*ctxd [a-z][a-z -]*\*$/.test(pattern);
}
