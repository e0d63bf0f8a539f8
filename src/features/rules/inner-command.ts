import type { Hints } from './hints.ts';

/** A command that runs as a part of a text. */
export interface InnerCommand {
  /** Its words without quotes, with holes for what only the shell knows. */
  readonly words: readonly string[];
  /** The words as they stand in the text; '' if they do not stand there. */
  readonly written: string;
  /**
   * `words`: it stands in the text itself. `wrapper`: another command in the text runs it. `text`: it comes from a text that a
   * shell reads while it runs, or from a program that the client does not know to run others.
   */
  readonly via: 'words' | 'wrapper' | 'text';
  /** True if it is not sure that the program runs it. */
  readonly isGuess?: true;
  /** What it may run itself. Missing: nothing more. */
  readonly hints?: Hints;
}
