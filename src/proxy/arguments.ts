import { ContextdError } from '../core/errors.ts';
import type { FlagInput } from './flag-input.ts';
import type { ToolLink } from './invocation.ts';
import { OUT, OWN_SWITCHES, shorten, splitFlag, type Words } from './words.ts';

/** What the command line asks for. */
export type Request = CallRequest | { kind: 'print'; file: Document };
type Document = 'TOOL.md' | 'TOOL_EXTENDED.md' | 'schema.json';

export interface CallRequest {
  kind: 'call';
  input: InputSource;
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
 * Parses `[JSON | - | @file | --key value …] [--help [--extended]] [--schema] [--out FILE] [--progress]`. The tool's
 * schema.json is read only if a flag is neither one of the proxy's nor a common option. Throws ARGS_INVALID for anything
 * else.
 */
export async function parseArguments(
  args: readonly string[],
  { tool, toolDir }: Pick<ToolLink, 'tool' | 'toolDir'>,
): Promise<Request> {
  const flags = args.some(isToolFlag) ? await loadFlagInput(tool, toolDir) : null;
  const sorted = sortWords(args, tool, flags);
  const { switches, inputs, out } = sorted;
  const file = fileToPrint(switches);
  if (file !== null && out !== null) throw notAnAnswer(file);
  if (file !== null) return { kind: 'print', file };
  if (inputs.length > 1) throw invalid(`${inputs.length} inputs were given; only one is allowed`, tool);
  return { kind: 'call', input: sourceOf(inputs[0], flags), out, progress: switches.has('progress') };
}

/** A sentence that explains how to give the input. */
export function explainInput(tool: string): string {
  return `Give the input as ${tool} '{"…":…}', as ${tool} @FILE, as ${tool} --name value, or on stdin; \`${tool} --help\` describes it.`;
}

/** Loaded on demand: calls without flags must not pay for it. */
async function loadFlagInput(tool: string, toolDir: string): Promise<FlagInput> {
  const { FlagInput } = await import('./flag-input.ts');
  return new FlagInput(tool, toolDir);
}

/** True for every flag of the tool, and for a value that looks like a flag. */
function isToolFlag(word: string): boolean {
  if (!word.startsWith('-') || word === '-') return false;
  const own = bareName(splitFlag(word).flag);
  return own !== OUT && !OWN_SWITCHES.includes(own);
}

function bareName(flag: string): string {
  return flag.startsWith('--') ? flag.slice(2) : '';
}

function fileToPrint(switches: Set<string>): Document | null {
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
    if (!word.startsWith('-') || word === '-') sorted.inputs.push(word);
    else takeFlag(sorted, word, words, tool);
  }
  return sorted;
}

function takeFlag(sorted: Sorted, word: string, words: Words, tool: string): void {
  const { flag, attached } = splitFlag(word);
  const own = bareName(flag);
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

function sourceOf(input: string | undefined, flags: FlagInput | null): InputSource {
  if (flags !== null && !flags.isEmpty) {
    if (input === undefined) return { from: 'argument', text: flags.toJson() };
    throw new ContextdError(
      'ARGS_INVALID',
      `an input and flags were given together: ${JSON.stringify(shorten(input))} and ${flags.first}`,
      {
        remedy: 'Pass everything as one JSON object, or everything as flags. Put quotes around a value with spaces.',
      },
    );
  }
  if (input === undefined || input === '-') return { from: 'stdin' };
  if (input.startsWith('@')) return { from: 'file', path: input.slice(1) };
  return { from: 'argument', text: input };
}

function invalid(message: string, tool: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy: explainInput(tool) });
}
