import type { InnerCommand } from './inner-command.ts';
import { innerCommands } from './inner-commands.ts';
import { type JudgedText, type Judgement, NO_RULE, type RuledCommand } from './judgement.ts';
import { compilePattern, literalStart, matchPattern, type Pattern, shownText } from './pattern.ts';
import { type CommandRule, isCatchAll, type RuleClient, type RuleList } from './rule.ts';
import { baseName } from './wrappers.ts';

type Hit = { readonly kind: 'deny' | 'ask' | 'unseen'; readonly rule: CommandRule } | { readonly kind: 'none' };

interface Compiled extends CommandRule {
  readonly tokens: Pattern;
}

/** Throws RangeError if the text is nested too deeply to be read. */
export function judgeText({ text, input, isSeen }: JudgedText, lists: readonly RuleList[]): Judgement {
  const compiled = lists.map((list) => ({ ...list, rules: list.rules.flatMap((rule) => compiledFor(list, rule)) }));
  const commands = innerCommands(text, input);
  const asked = new Map<CommandRule, RuledCommand>();
  let unseen: RuledCommand | null = null;
  for (const { client, order, rules } of compiled) {
    for (const command of commands) {
      const hit = order === 'last' ? lastHit(command, rules) : strictestHit(command, rules);
      if (hit.kind === 'none') continue;
      const ruled = { client, rule: hit.rule.rule, file: hit.rule.file, command: shownCommand(command) };
      if (hit.kind === 'deny') return { ...NO_RULE, denied: ruled };
      if (hit.kind === 'unseen') unseen ??= ruled;
      else if (!(isSeen && hasAsked(client, command, hit.rule)) && !asked.has(hit.rule)) asked.set(hit.rule, ruled);
    }
  }
  return { denied: null, asked: [...asked.values()], unseen };
}

/** Where the last rule decides, one for everything takes the others out of force. */
function compiledFor({ client, order }: RuleList, rule: CommandRule): Compiled[] {
  if (isCatchAll(rule.pattern) && order === 'strictest') return [];
  return [{ ...rule, tokens: compilePattern(rule.pattern, client === 'opencode') }];
}

/** Deny before ask before allow. An allow spares a command the question what its unknown words are. */
function strictestHit(command: InnerCommand, rules: readonly Compiled[]): Hit {
  const texts = textsOf(command);
  const maybe: Compiled[] = [];
  for (const kind of ['deny', 'ask'] as const) {
    for (const rule of rules) {
      if (rule.action !== kind) continue;
      const match = bestMatch(rule, texts);
      if (match === 'surely' && command.isGuess !== true) return { kind, rule };
      if (match !== 'no' || isHinted(rule, command)) maybe.push(rule);
    }
  }
  const [first] = maybe;
  if (first === undefined) return { kind: 'none' };
  const allows = rules.filter((rule) => rule.action === 'allow' && bestMatch(rule, texts) === 'surely');
  const isAllowed = allows.some((allow) => allow.isOfPerson || maybe.every((rule) => isLiftedBy(allow, rule)));
  return isAllowed ? { kind: 'none' } : { kind: 'unseen', rule: first };
}

/** A file of the workspace lifts nothing but what the same file asks about. */
function isLiftedBy(allow: CommandRule, rule: CommandRule): boolean {
  return rule.action === 'ask' && rule.file === allow.file;
}

/** The last rule that matches decides. */
function lastHit(command: InnerCommand, rules: readonly Compiled[]): Hit {
  const texts = textsOf(command);
  let maybe: Compiled | undefined;
  for (const rule of rules.toReversed()) {
    const found = bestMatch(rule, texts);
    const isGuess = command.isGuess === true && rule.action !== 'allow' && !isCatchAll(rule.pattern);
    const match = isGuess && found === 'surely' ? 'maybe' : found;
    const mayRun = match === 'maybe' || (match === 'no' && isHinted(rule, command));
    if (mayRun && rule.action !== 'allow' && !isCatchAll(rule.pattern)) maybe ??= rule;
    if (match !== 'surely') continue;
    if (isCatchAll(rule.pattern)) break;
    if (rule.action === 'deny' || (rule.action === 'ask' && maybe?.action !== 'deny')) {
      return { kind: rule.action, rule };
    }
    break;
  }
  return maybe === undefined ? { kind: 'none' } : { kind: 'unseen', rule: maybe };
}

/** True if the program may run a part of its words that the rule covers. */
function isHinted({ tokens }: Compiled, { hints }: InnerCommand): boolean {
  if (hints === undefined) return false;
  const start = literalStart(tokens);
  if (start.trim() === '') return false;
  const [first = ''] = start.split(' ');
  const covers = (text: string): boolean => text.startsWith(first) && matchPattern(tokens, text) !== 'no';
  const ofTail = (word: string, index: number, words: readonly string[]): boolean =>
    baseName(word).startsWith(first) && covers([baseName(word), ...words.slice(index + 1)].join(' '));
  return (
    hints.tails.some((words) => words.some(ofTail)) ||
    hints.texts.some((text) => covers(text) || covers(baseName(text)))
  );
}

/** The words of a command as rules name them: the program by its path and by its name, and as they are written. */
function textsOf({ words, written }: InnerCommand): string[] {
  const [first = '', ...rest] = words;
  const texts = [[first, ...rest].join(' '), [baseName(first), ...rest].join(' '), written];
  return [...new Set(texts)].filter((text) => text !== '');
}

function bestMatch({ tokens }: Compiled, texts: readonly string[]): 'surely' | 'maybe' | 'no' {
  const matches = texts.map((text) => matchPattern(tokens, text));
  if (matches.includes('surely')) return 'surely';
  return matches.includes('maybe') ? 'maybe' : 'no';
}

/** True if the client itself has compared the command with the rule. Measured with the real programs. */
function hasAsked(client: RuleClient, { via, written }: InnerCommand, { pattern }: CommandRule): boolean {
  if (client === 'claude') return via !== 'text';
  return via === 'words' && matchPattern(compilePattern(pattern, true), written) === 'surely';
}

const SHOWN_MAX_CHARS = 200;

function shownCommand({ words, hints }: InnerCommand): string {
  const text = words.length === 0 ? (hints?.texts[0] ?? '') : words.join(' ');
  const shown = shownText(text).replaceAll(/\s+/g, ' ');
  return shown.length <= SHOWN_MAX_CHARS ? shown : `${shown.slice(0, SHOWN_MAX_CHARS)}…`;
}
