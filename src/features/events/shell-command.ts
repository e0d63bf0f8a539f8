/** What a shell command is about, read from its text: enough to compare two commands, not to run one. Pure. */
import { nearestNames } from '../../core/nearest-names.ts';
import { isSilentProgram, isWrapper, looksOnly } from './programs.ts';

/** A simple command without its assignments, redirections and wrappers. */
export interface SimpleCommand {
  /** File name of the program, or the module of `python -m`. */
  readonly program: string;
  readonly options: readonly string[];
  /** Words that are no options: subcommands, targets, paths and values of options. */
  readonly operands: readonly string[];
}

/** An operator of the shell, a redirection with its target, or a word. */
const TOKEN =
  /(?<operator>&&|\|\|?|;|&(?!>)|\n)|(?<redirection>\d*(?:&>>?|[<>]{1,3}[&|-]?)\s*[^\s;|&<>]*)|(?<word>(?:'[^']*'?|"(?:\\.|[^"\\])*"?|\\.|[^\s;|&<>'"\\])+)/gs;

/** A command and the operator before it; '' for the first. */
interface Part {
  readonly operator: string;
  readonly command: SimpleCommand;
}

/** The commands between the shell's operators, in order. */
function partsOf(line: string): Part[] {
  const lists: { operator: string; words: string[] }[] = [{ operator: '', words: [] }];
  for (const { groups } of line.matchAll(TOKEN)) {
    if (groups?.operator !== undefined) lists.push({ operator: groups.operator, words: [] });
    else if (groups?.word !== undefined) lists.at(-1)?.words.push(groups.word.replace(/\\(.)|['"]/gs, '$1'));
  }
  return lists.flatMap(({ operator, words }) => {
    const command = simpleCommand(words);
    return command === null ? [] : [{ operator, command }];
  });
}

function commandsOf(line: string): SimpleCommand[] {
  return partsOf(line).map(({ command }) => command);
}

function simpleCommand(words: readonly string[]): SimpleCommand | null {
  const start = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word) && !isWrapper(word));
  const first = words[start];
  if (first === undefined) return null;
  const rest = words.slice(start + 1);
  const isModule = /^python[\d.]*$/.test(fileName(first)) && rest[0] === '-m' && rest[1] !== undefined;
  const args = isModule ? rest.slice(2) : rest;
  return {
    program: isModule ? (rest[1] ?? '') : fileName(first),
    options: args.filter(isOption),
    operands: args.filter((word) => !isOption(word)),
  };
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function isOption(word: string): boolean {
  return word.length > 1 && word.startsWith('-');
}

/** Whether the command only shows what is there: `git log | head`. */
export function isLooking(line: string): boolean {
  return commandsOf(line).every(looks);
}

function looks({ program, operands }: SimpleCommand): boolean {
  return looksOnly(program, operands[0] ?? '');
}

/** The last part that does something: `pytest` of `cd x && A=1 pytest -q | tail -3; echo done`. Null for an empty line. */
export function mainCommand(line: string): SimpleCommand | null {
  const commands = commandsOf(line);
  const shows = commands.filter(({ program }) => !isSilentProgram(program));
  return commands.findLast((command) => !looks(command)) ?? shows[0] ?? commands.at(-1) ?? null;
}

/**
 * Whether status 0 of the line says that its main command succeeded: not if something behind it ran whatever its status was, as in
 * `pytest; echo done` and `pytest || true`.
 */
export function hasStatusOfMain(line: string): boolean {
  const parts = partsOf(line);
  const main = parts.findLastIndex(({ command }) => !looks(command));
  return main === -1 || parts.slice(main + 1).every(({ operator }) => operator === '&&' || operator === '|');
}

/**
 * Whether a success of `later` shows that what `earlier` was run for works now: the same program on the same operands, or
 * with fewer paths, as `pytest` for `pytest tests/test_a.py`. Options say how, not what.
 */
export function covers(later: SimpleCommand, earlier: SimpleCommand): boolean {
  if (later.program !== earlier.program) return false;
  const laterPaths = later.operands.filter(isPath);
  const isIn = (operand: string) =>
    later.operands.some((one) => one === operand || (isPath(one) && isBelow(operand, one))) ||
    (isPath(operand) && laterPaths.length === 0);
  const isOf = (operand: string) => earlier.operands.some((one) => one === operand || isBelow(one, operand));
  return earlier.operands.every(isIn) && later.operands.every(isOf);
}

/** A path, possibly with the name of a test behind it: `tests/test_a.py::test_b`. */
function isPath(operand: string): boolean {
  return operand.includes('/') || /\w\.[A-Za-z]\w{0,9}(?:::|$)/.test(operand);
}

function isBelow(path: string, above: string): boolean {
  return path.startsWith(above.endsWith('/') ? above : `${above}/`) || path.startsWith(`${above}::`);
}

/** The share of words that a corrected command has in common with the wrong one, at least. */
const CORRECTED_FROM = 0.4;

/** Whether `later` is `earlier` written in another way: `git log --oneline` for `git log --onelin`. */
export function corrects(later: SimpleCommand, earlier: SimpleCommand): boolean {
  if (later.program !== earlier.program) return false;
  const [words, before] = [later, earlier].map(({ options, operands }) =>
    [...operands, ...options].flatMap((word) => word.split('::')),
  );
  if (words === undefined || before === undefined || words.length === 0) return true;
  const common = words.filter((word) =>
    before.some((one) => one === word || nearestNames(word, [one]).length > 0),
  ).length;
  return common / Math.max(words.length, before.length) >= CORRECTED_FROM;
}

/** Whether two commands work on the same files: where one names a path, so does the other, or one around it. */
export function haveSamePaths(one: SimpleCommand, other: SimpleCommand): boolean {
  const areIn = (operands: readonly string[], others: readonly string[]) =>
    operands.filter(isPath).every((path) => others.some((o) => o === path || isBelow(path, o) || isBelow(o, path)));
  return areIn(one.operands, other.operands) && areIn(other.operands, one.operands);
}

/** What a program or shell says of a command that was written wrongly: the work did not begin. */
const USAGE =
  /\b(?:un(?:known|recogni[sz]ed|expected)|invalid|illegal|bad|no such|ambiguous|missing|required)\s+(?:\S+\s+)?(?:option|argument|flag|switch|choice|predicate|(?:sub)?command|script|target|test)|arguments? (?:is|are) required|flag provided but not defined|\busage:|command not found|: not found$|no rule to make target|is not a \S+ command|not found: \S+::|no tests ran/im;

/** Whether an error says that the command was written wrongly. */
export function isUsageError(error: string): boolean {
  return USAGE.test(error);
}
