import type { AnswerForm } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import { startsLikeJson } from '../core/json.ts';
import { shellNameOf } from '../core/shell-names.ts';
import type { FlagInput } from './flag-input.ts';
import type { ToolLink } from './invocation.ts';
import { OUT, OWN_SWITCHES, shorten, splitFlag, type Words } from './words.ts';

/** What the command line asks for. */
export type Request = CallRequest | { kind: 'print'; file: Document } | { kind: 'version' };
type Document = 'TOOL.md' | 'TOOL_EXTENDED.md' | 'schema.json';

export interface CallRequest {
  kind: 'call';
  /** Where the JSON object or the plain words come from; null: only flags were given. */
  source: InputSource | null;
  /** The flags as a JSON object; "" without flags. */
  flags: string;
  /** The form that was asked for; null: that of the input, JSON for JSON and text for words. */
  form: AnswerForm | null;
  /** The file for the answer, as the caller wrote it; null: stdout. */
  out: string | null;
  /** True to show what a command prints while it runs. */
  progress: boolean;
}

export type InputSource = { from: 'argument'; text: string } | { from: 'stdin' } | { from: 'file'; path: string };

/** The words of the command line, by kind. */
interface Sorted {
  switches: Set<string>;
  out: string | null;
  inputs: string[];
  /** Null if no word is a flag of the tool. */
  flags: FlagInput | null;
}

/**
 * Parses `[JSON | words | words JSON | - | @file] [--key value …] [--json | --text] [--out FILE] [--progress]`, or `--help
 * [--extended]`, `-h`, `--schema`, `--version`. JSON behind words is the value of the tool's one property besides that of the
 * words. The tool's schema.json is read only for such JSON and for flags that are neither the proxy's nor common options.
 * Throws ARGS_INVALID for anything else.
 */
export async function parseArguments(
  args: readonly string[],
  { tool, toolDir }: Pick<ToolLink, 'tool' | 'toolDir'>,
): Promise<Request> {
  const flags = args.some(isToolFlag) || args.slice(1).some(isObject) ? await loadFlagInput(tool, toolDir) : null;
  const { switches, inputs, out } = sortWords(args, tool, flags);
  if (inputs.length > 1 && !(isPair(inputs) && flags?.takeObject(inputs[1]))) throw severalWords(inputs, tool);
  const file = fileToPrint(switches);
  if (file !== null && out !== null) throw notAnAnswer(file);
  if (file !== null) return { kind: 'print', file };
  if (switches.has('version')) return { kind: 'version' };
  const hasFlags = flags !== null && !flags.isEmpty;
  return {
    kind: 'call',
    source: sourceOf(inputs[0], hasFlags ? flags.first : null, tool),
    flags: hasFlags ? flags.toJson() : '',
    form: askedForm(switches, tool),
    out,
    progress: switches.has('progress'),
  };
}

/**
 * The form of an answer if the command line or the input cannot be read. Text for words, flags of the tool and a file, unless its
 * name says that it is JSON.
 */
export function guessForm(args: readonly string[]): AnswerForm {
  if (args.includes('--json')) return 'json';
  if (args.includes('--text')) return 'text';
  const isJson = (word: string): boolean => startsLikeJson(word) || /^@.*\.json$/is.test(word);
  if (args.some(isToolFlag)) return isJson(args[0] ?? '') ? 'json' : 'text';
  const words = args.filter((word) => !word.startsWith('--'));
  const asksForText = args.includes('--help') || args.includes('--schema');
  const isStdin = !asksForText && (words.length === 0 || (words.length === 1 && words[0] === '-'));
  return isStdin || words.some(isJson) ? 'json' : 'text';
}

/** A sentence that explains how to give the input. */
export function explainInput(tool: string): string {
  const name = shellNameOf(tool);
  return `Give the input as ${name} 'words', as ${name} '{"…":…}', as ${name} @FILE, as ${name} --name value, or on stdin; \`${name} --help\` describes it.`;
}

function askedForm(switches: ReadonlySet<string>, tool: string): AnswerForm | null {
  const [json, text] = [switches.has('json'), switches.has('text')];
  if (json && text) throw invalid('--json and --text were given together', tool);
  return json ? 'json' : text ? 'text' : null;
}

/** The shell splits a command without quotes into words; joining them again would change what it means. */
function severalWords(inputs: readonly string[], tool: string): ContextdError {
  const shown = inputs.slice(0, 3).map((input) => JSON.stringify(shorten(input)));
  const isPlain = inputs.every((input) => /^[\w./:=@%+,-]+$/.test(input));
  const example = isPlain ? shorten(inputs.join(' ')) : '…';
  return new ContextdError('ARGS_INVALID', `${inputs.length} words were given: ${shown.join(', ')}`, {
    remedy: `Quote the whole input as one word: ${tool} '${example}'.`,
  });
}

/** Words and then a JSON object. */
function isPair(inputs: readonly string[]): inputs is [string, string] {
  const [words = '', object = ''] = inputs;
  return inputs.length === 2 && isObject(object) && !startsLikeJson(words) && words !== '-' && !words.startsWith('@');
}

function isObject(word: string): boolean {
  return word.trimStart().startsWith('{');
}

/** Loaded on demand: calls without flags must not pay for it. */
async function loadFlagInput(tool: string, toolDir: string): Promise<FlagInput> {
  const { FlagInput } = await import('./flag-input.ts');
  return new FlagInput(tool, toolDir);
}

const HELP = '-h';

/** True for every flag of the tool, and for a value that looks like a flag. */
function isToolFlag(word: string): boolean {
  if (!word.startsWith('-') || word === '-') return false;
  if (word === HELP) return false;
  const own = bareName(splitFlag(word).flag);
  return own !== OUT && !OWN_SWITCHES.includes(own);
}

function bareName(flag: string): string {
  return flag.startsWith('--') ? flag.slice(2) : '';
}

function fileToPrint(switches: ReadonlySet<string>): Document | null {
  if (switches.has('extended')) return 'TOOL_EXTENDED.md';
  if (switches.has('help')) return 'TOOL.md';
  return switches.has('schema') ? 'schema.json' : null;
}

/** A flag that needs a value takes the next word, even if that word begins with a dash. */
function sortWords(args: readonly string[], tool: string, flags: FlagInput | null): Sorted {
  const sorted: Sorted = { switches: new Set(), out: null, inputs: [], flags };
  const words: Words = { args, at: 0 };
  while (words.at < args.length) {
    const word = args[words.at++] ?? '';
    if (word === HELP) sorted.switches.add('help');
    else if (isInput(word, sorted)) sorted.inputs.push(word);
    else takeFlag(sorted, word, words, tool);
  }
  return sorted;
}

/** After an input, "-la" is an option of a command that was not quoted. Flags of a tool have two dashes. */
function isInput(word: string, { inputs }: Sorted): boolean {
  return !word.startsWith('-') || word === '-' || (inputs.length > 0 && !word.startsWith('--'));
}

function takeFlag(sorted: Sorted, word: string, words: Words, tool: string): void {
  const { flag, attached } = splitFlag(word);
  const own = bareName(flag);
  if (sorted.inputs.length > 1 && !isPair(sorted.inputs)) throw severalWords(sorted.inputs, tool);
  if (own === OUT) {
    if (sorted.out !== null) throw invalid(`${flag} is given twice`, tool);
    sorted.out = attached ?? words.args[words.at++] ?? noFile(tool);
  } else if (!OWN_SWITCHES.includes(own)) {
    sorted.flags?.take(word, words);
  } else if (attached === null) {
    sorted.switches.add(own);
  } else {
    throw invalid(`${flag} takes no value`, tool);
  }
}

function notAnAnswer(file: Document): ContextdError {
  return new ContextdError('ARGS_INVALID', `--${OUT} saves the answer of a call, and ${file} is not an answer`, {
    remedy: `Leave out --${OUT}; the document is printed on stdout.`,
  });
}

function noFile(tool: string): never {
  throw new ContextdError('ARGS_INVALID', `--${OUT} needs the name of a file`, {
    remedy: `Name a file in the project: ${tool} … --${OUT} answer.json.`,
  });
}

function sourceOf(input: string | undefined, flag: string | null, tool: string): InputSource | null {
  if (input === undefined) return flag === null ? { from: 'stdin' } : null;
  if (input === '-') return { from: 'stdin' };
  if (input.startsWith('@')) return { from: 'file', path: input.slice(1) };
  if (input.trim() === '') throw invalid('the argument is empty', tool);
  if (flag !== null && startsLikeJson(input)) throw jsonWithFlags(input, flag);
  return { from: 'argument', text: input };
}

/** Both would be the whole input. */
export function jsonWithFlags(input: string, flag: string): ContextdError {
  return new ContextdError(
    'ARGS_INVALID',
    `JSON and flags were given together: ${JSON.stringify(shorten(input))}, ${flag}`,
    {
      remedy: 'Pass everything as one JSON object, or everything as flags and plain words.',
    },
  );
}

function invalid(message: string, tool: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy: explainInput(tool) });
}
