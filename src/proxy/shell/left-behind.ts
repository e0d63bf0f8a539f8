import type { Command, ParsedScript, Statement } from 'unbash';
import { type KeptState, keptState } from './kept-state.ts';
import { childrenOf, isNode, readSyntax } from './syntax.ts';

/** A part of a text, in the order in which a shell runs them. */
export interface Part {
  text: string;
  /** True: the shell leaves it running. */
  isLeft: boolean;
  /** Lines of the text before it. */
  linesBefore: number;
  /** What the parts before it leave in the shell that runs them. */
  kept: KeptState;
}

export interface LeftBehind {
  /** Null: the text runs as it stands, as one command. */
  parts: readonly Part[] | null;
  /** True if the shell would leave a command running that ends with the text. */
  isLost: boolean;
}

/**
 * Reads what a shell runs at once and what it leaves running, by the commands at the top of the text. One command stays what it is: a
 * text in which a later part refers to what was left, such as by `wait`, and one in which a part needs more of an earlier one than
 * can be repeated.
 */
export function readLeftBehind(text: string): LeftBehind {
  const script = readSyntax(text);
  if (script === null || isBriefBeside(script)) return { parts: null, isLost: false };
  const parts = readParts(text, script);
  const isLost = parts === null && !ENDS_OR_WAITS.test(text) && hasBackground(script);
  return { parts, isLost };
}

/** Words by which a part waits for what was left or ends it, in the shell that started it. */
const REFERS_BACK = /\b(?:wait|kill|pkill|killall|jobs|fg|bg|disown|trap|ps|pgrep)\b/;
const ENDS_OR_WAITS = /\b(?:wait|kill|pkill|killall)\b/;
const HAS_DOCUMENT = /<<(?!<)/;

function readParts(text: string, { commands }: ParsedScript): Part[] | null {
  const left = commands.map((statement) => commandLeft(text, statement));
  if (left.every((command) => command === null)) return null;
  const statements = commands.filter((one, index) => !(index > 0 && left[index - 1] !== null && isDisown(text, one)));
  const parts: Part[] = [];
  let from: Statement | null = null;
  for (const [index, statement] of statements.entries()) {
    const command = commandLeft(text, statement);
    if (command === null) {
      from ??= statement;
      if (index < statements.length - 1 && commandLeft(text, statements[index + 1]) === null) continue;
    }
    const end = command === null ? (statements[index + 1]?.pos ?? endOfText(text, commands, statement)) : 0;
    const part = command ?? text.slice(from?.pos ?? 0, end).trim();
    if (HAS_DOCUMENT.test(text) && command !== null && !isAloneOnItsLines(text, statement)) return null;
    const isAfterLeft = parts.some(({ isLeft }) => isLeft);
    if (part === '' || (isAfterLeft && REFERS_BACK.test(part))) return null;
    const first = from ?? statement;
    const kept = keptState(text, earlier(statements, first));
    if (kept === null) return null;
    const linesBefore = text.slice(0, first.pos).split('\n').length - 1;
    parts.push({ text: part, isLeft: command !== null, linesBefore, kept });
    from = null;
  }
  return parts;
}

/** The statements before one that the shell itself runs. */
function earlier(statements: readonly Statement[], until: Statement): Statement[] {
  return statements.filter(({ pos, background }) => pos < until.pos && background !== true);
}

/** A `disown` at the end of the text has no part of its own. */
function endOfText(text: string, commands: readonly Statement[], statement: Statement): number {
  const next = commands.find(({ pos }) => pos > statement.pos);
  return next?.pos ?? text.length;
}

/** The command that a shell would leave running: `COMMAND &` and `(COMMAND &)`. Null for any other statement. */
function commandLeft(text: string, statement: Statement | undefined): string | null {
  if (statement === undefined) return null;
  const { command, background, redirects, pos, end } = statement;
  if (background === true) return text[end - 1] === '&' ? withoutWords(text.slice(pos, end - 1).trim()) : null;
  if (command.type !== 'Subshell' || redirects.length > 0) return null;
  const [only, ...more] = command.body.commands;
  return more.length > 0 || only?.background !== true ? null : commandLeft(text, only);
}

function isDisown(text: string, { command, end, pos }: Statement): boolean {
  return command.type === 'Command' && /^disown\b/.test(text.slice(pos, end));
}

/** Words that only keep a process alive after its shell, as a job is anyway. With other options they stay. */
function withoutWords(command: string): string {
  return command.replace(/^(?:nohup|setsid(?: -f| --fork)?)\s+(?!-)/, '');
}

/** In a text with a here-document only then is it sure that none of it lies in what is cut out. */
function isAloneOnItsLines(text: string, { pos, end }: Statement): boolean {
  const [before, after] = [text.slice(0, pos), text.slice(end)];
  return /(?:^|\n)[ \t]*$/.test(before) && /^[ \t]*(?:\n|$)/.test(after) && !HAS_DOCUMENT.test(text.slice(pos, end));
}

/** A group of commands that end by themselves, with more behind it: it ends with the text, as it is meant to. */
function isBriefBeside({ commands }: ParsedScript): boolean {
  return commands
    .slice(0, -1)
    .some(({ background, command }) => background === true && command.type !== 'Command' && isBrief(command));
}

function isBrief(node: unknown): boolean {
  if (Array.isArray(node)) return node.every(isBrief);
  if (!isNode(node)) return true;
  const { type } = { type: '', ...node };
  if (['While', 'ArithmeticFor', 'Select', 'Coproc', 'Function'].includes(type)) return false;
  if (type === 'Command' && !BRIEF.has((node as Command).name?.value ?? '')) return false;
  return childrenOf(node).every(isBrief);
}

const BRIEF = new Set([
  ':',
  '[',
  'cp',
  'date',
  'echo',
  'false',
  'mkdir',
  'mv',
  'printf',
  'rm',
  'sleep',
  'test',
  'touch',
  'true',
]);

function hasBackground(node: unknown): boolean {
  if (Array.isArray(node)) return node.some(hasBackground);
  if (!isNode(node)) return false;
  return ('background' in node && node.background === true) || childrenOf(node).some(hasBackground);
}
