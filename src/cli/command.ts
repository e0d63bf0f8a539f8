import { ContextdError } from '../core/errors.ts';
import type { CliContext } from './context.ts';
import type { View } from './render.ts';

/** One command of ctxd. It returns data; how that is shown is `view`'s part, and `--json` prints it bare. */
export interface CommandSpec<T> {
  /** The words that name it: ['server', 'status']. */
  name: readonly string[];
  summary: string;
  /** As commander writes them: `<name>` must be given, `[name]` may be. */
  parameters?: readonly Parameter[];
  /** As commander writes them: `-n, --lines <count>`. `--json` is on every command already. */
  options?: readonly Parameter[];
  run(context: CliContext, given: Given): Promise<T>;
  view(data: T): View;
  /** The text of `--json`, for data that is JSON text already; the data as JSON otherwise. */
  bare?(data: T): string;
  /** 0 unless the data says otherwise. */
  exitCode?(data: T): number;
}

interface Parameter {
  syntax: string;
  help: string;
}

/** A command with the type of its data closed over. */
export interface Command extends Pick<CommandSpec<unknown>, 'name' | 'summary'> {
  parameters: readonly Parameter[];
  options: readonly Parameter[];
  execute(context: CliContext, given: Given): Promise<Outcome>;
}

interface Outcome {
  /** What `--json` prints: one JSON value, without a line end. */
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
    async execute(context, given) {
      const data = await spec.run(context, given);
      return {
        json: spec.bare?.(data) ?? JSON.stringify(data ?? null),
        view: spec.view(data),
        exitCode: spec.exitCode?.(data) ?? 0,
      };
    },
  };
}

/** The words and options a command was given. */
export class Given {
  readonly #words: readonly unknown[];
  readonly #options: Readonly<Record<string, unknown>>;

  constructor(words: readonly unknown[], options: Readonly<Record<string, unknown>>) {
    this.#words = words;
    this.#options = options;
  }

  /** The nth word; undefined when it was left out. */
  word(index: number): string | undefined {
    const word = this.#words[index];
    return typeof word === 'string' ? word : undefined;
  }

  /** The nth word, which the syntax makes sure is there. */
  requiredWord(index: number): string {
    return this.word(index) ?? '';
  }

  flag(name: string): boolean {
    return this.#options[name] !== undefined && this.#options[name] !== false;
  }

  text(name: string): string | undefined {
    const value = this.#options[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** A whole number from 1 to `maximum`; ARGS_INVALID otherwise. */
  count(name: string, standard: number, maximum: number): number {
    const text = this.text(name);
    if (text === undefined) return standard;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= 1 && value <= maximum) return value;
    throw new ContextdError('ARGS_INVALID', `--${name} is not a number from 1 to ${maximum}: ${text}`, {
      remedy: `Give one, such as --${name} ${standard}.`,
    });
  }
}
