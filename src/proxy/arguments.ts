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
  /** Where the answer is kept, as the caller wrote it; null: it goes to stdout. */
  out: string | null;
  /** Whether a person wants to see what a command prints while it runs. */
  progress: boolean;
}

export type InputSource = { from: 'argument'; text: string } | { from: 'stdin' } | { from: 'file'; path: string };

/** What the words of the command line are, in any order. */
interface Sorted {
  switches: Set<string>;
  out: string | null;
  inputs: string[];
  /** Null when no word is a flag of the tool. */
  flags: FlagInput | null;
}

/**
 * `[JSON | - | @file | --key value …] [--help [--extended]] [--schema] [--out FILE] [--progress]`. The tool's
 * schema.json is read only where a flag is neither the proxy's own nor a common option. Throws ARGS_INVALID for
 * anything else.
 */
export async function parseArguments(
  args: readonly string[],
  { tool, toolDir }: Pick<ToolLink, 'tool' | 'toolDir'>,
): Promise<Request> {
  const flags = args.some(isToolFlag) ? await loadFlagInput(tool, toolDir) : null;
  const sorted = sortWords(args, tool, flags);
  const { switches, inputs, out } = sorted;
  const file = fileToPrint(switches);
  if (file !== null && out !== null) throw notKept(file);
  if (file !== null) return { kind: 'print', file };
  if (inputs.length > 1) throw invalid(`${inputs.length} inputs given, one expected`, tool);
  return { kind: 'call', input: sourceOf(inputs[0], flags), out, progress: switches.has('progress') };
}

/** How input is given, as a sentence for whoever gave none. */
export function explainInput(tool: string): string {
  return `Give the input as ${tool} '{"…":…}', as ${tool} @FILE, as ${tool} --name value, or on stdin; \`${tool} --help\` describes it.`;
}

/** Loading what reads flags takes longer than a call without any can spare. */
async function loadFlagInput(tool: string, toolDir: string): Promise<FlagInput> {
  const { FlagInput } = await import('./flag-input.ts');
  return new FlagInput(tool, toolDir);
}

/** True for every flag of the tool, and for a value that looks like one. */
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

/** A flag that needs a value takes the next word, whatever that begins with. */
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

function notKept(file: Document): ContextdError {
  return new ContextdError('ARGS_INVALID', `--${OUT} keeps the answer of a call, and ${file} is none`, {
    remedy: `Leave --${OUT} out; the document goes to stdout.`,
  });
}

function noFile(tool: string): never {
  throw new ContextdError('ARGS_INVALID', `--${OUT} needs the name of a file`, {
    remedy: `Name one in the project: ${tool} … --${OUT} answer.json.`,
  });
}

function sourceOf(input: string | undefined, flags: FlagInput | null): InputSource {
  if (flags !== null && !flags.isEmpty) {
    if (input === undefined) return { from: 'argument', text: flags.toJson() };
    throw new ContextdError(
      'ARGS_INVALID',
      `an input and flags are given together: ${JSON.stringify(shorten(input))} and ${flags.first}`,
      {
        remedy: 'Put all into one JSON object, or all into flags; a value with spaces needs quotes around it.',
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
