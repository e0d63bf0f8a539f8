import { ContextdError } from '../core/errors.ts';

/** What the command line asks for. */
export type Request =
  | { kind: 'call'; input: InputSource }
  | { kind: 'print'; file: 'TOOL.md' | 'TOOL_EXTENDED.md' | 'schema.json' };

export type InputSource = { from: 'argument'; text: string } | { from: 'stdin' } | { from: 'file'; path: string };

const FLAGS = ['--help', '--extended', '--schema'];

/** `[JSON | - | @file] [--help [--extended]] [--schema]`. Throws ARGS_INVALID for anything else. */
export function parseArguments(args: readonly string[], tool: string): Request {
  const flags = args.filter((arg) => arg.startsWith('-') && arg !== '-');
  const inputs = args.filter((arg) => !arg.startsWith('-') || arg === '-');
  const unknown = flags.find((flag) => !FLAGS.includes(flag));
  if (unknown !== undefined) throw invalid(`unknown option ${unknown}`, tool);
  if (flags.includes('--extended')) return { kind: 'print', file: 'TOOL_EXTENDED.md' };
  if (flags.includes('--help')) return { kind: 'print', file: 'TOOL.md' };
  if (flags.includes('--schema')) return { kind: 'print', file: 'schema.json' };
  if (inputs.length > 1) throw invalid(`${inputs.length} inputs given, one expected`, tool);
  return { kind: 'call', input: sourceOf(inputs[0]) };
}

/** How input is given, as a sentence for whoever gave none. */
export function explainInput(tool: string): string {
  return `Give the input as ${tool} '{"…":…}', as ${tool} @FILE, or on stdin; \`${tool} --help\` describes it.`;
}

function sourceOf(input: string | undefined): InputSource {
  if (input === undefined || input === '-') return { from: 'stdin' };
  if (input.startsWith('@')) return { from: 'file', path: input.slice(1) };
  return { from: 'argument', text: input };
}

function invalid(message: string, tool: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy: explainInput(tool) });
}
