import { ContextdError } from '../core/errors.ts';
import { escapedJson } from '../core/invisible.ts';
import type { CliContext } from './context.ts';
import type { View } from './render.ts';

/**
 * One command of ctxd. `run` returns data, `view` turns it into what a person sees, and `--json` prints it as it is.
 */
export interface CommandSpec<T> {
  /** The words that call it: ['server', 'status']. */
  name: readonly string[];
  summary: string;
  /** In commander's syntax: `<name>` is required, `[name]` is optional. */
  parameters?: readonly Parameter[];
  /** In commander's syntax: `-n, --lines <count>`. Every command has `--json` already. */
  options?: readonly Parameter[];
  run(context: CliContext, args: ParsedArgs): Promise<T>;
  view(data: T): View;
  /** The text for `--json`. Default: the data as JSON. "": `run` has written it. */
  bare?(data: T): string;
  /** Default: 0. */
  exitCode?(data: T): number;
}

export interface Parameter {
  syntax: string;
  help: string;
}

/** A command whose data type is hidden, so that commands fit in one list. */
export interface Command extends Pick<CommandSpec<unknown>, 'name' | 'summary'> {
  parameters: readonly Parameter[];
  options: readonly Parameter[];
  execute(context: CliContext, args: ParsedArgs): Promise<Outcome>;
}

interface Outcome {
  /** The output of `--json`: one JSON value without a line end. */
  json: string;
  view: View;
  exitCode: number;
}

export function defineCommand<T>(spec: CommandSpec<T>): Command {
  const { name, summary, parameters = [], options = [] } = spec;
  return {
    name,
    summary,
    parameters,
    options,
    async execute(context, args) {
      const data = await spec.run(context, args);
      return {
        json: spec.bare?.(data) ?? escapedJson(JSON.stringify(data ?? null)),
        view: spec.view(data),
        exitCode: spec.exitCode?.(data) ?? 0,
      };
    },
  };
}

/** The words and options of one command line. */
export class ParsedArgs {
  readonly #words: readonly unknown[];
  readonly #options: Readonly<Record<string, unknown>>;

  constructor(words: readonly unknown[], options: Readonly<Record<string, unknown>>) {
    this.#words = words;
    this.#options = options;
  }

  /** The nth word, or undefined if it is missing. */
  word(index: number): string | undefined {
    const word = this.#words[index];
    return typeof word === 'string' ? word : undefined;
  }

  /** Every word, for a parameter such as `[ids...]`. */
  words(): string[] {
    return this.#words.filter((word) => typeof word === 'string');
  }

  /** The nth word, for a parameter that the syntax requires. */
  requiredWord(index: number): string {
    return this.word(index) ?? '';
  }

  flag(name: string): boolean {
    return this.#option(name) !== undefined && this.#option(name) !== false;
  }

  /** True if `--no-<name>` was given. */
  isOff(name: string): boolean {
    return this.#options[name] === false;
  }

  text(name: string): string | undefined {
    const value = this.#option(name);
    return typeof value === 'string' ? value : undefined;
  }

  /** The words of an option such as `--paths <paths...>`. */
  list(name: string): string[] {
    const value = this.#options[name];
    return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : [];
  }

  /** A whole number from 1 to `maximum`. Throws ARGS_INVALID otherwise. */
  count(name: string, fallback: number, maximum: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= maximum) return value;
    throw new ContextdError('ARGS_INVALID', `--${name} must be a number from 1 to ${maximum}, not ${text}`, {
      remedy: `Pass a number, such as --${name} ${fallback}.`,
    });
  }

  /** Options are kept without hyphens: `--top-k` as `topK`. */
  #option(name: string): unknown {
    return this.#options[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
  }
}
