/** Flags of the proxy itself. A tool's property with one of these names can only be given as JSON. */
export const OWN_SWITCHES: readonly string[] = ['help', 'extended', 'schema', 'version', 'progress', 'json', 'text'];
export const OUT = 'out';

/** The command line and the position of the reader. */
export interface Words {
  args: readonly string[];
  /** Index of the next word. */
  at: number;
}

/** A flag and the value in the same word, as in `--key=value`; null: the word has no value. */
export interface SplitFlag {
  flag: string;
  attached: string | null;
}

export function splitFlag(word: string): SplitFlag {
  const equals = word.indexOf('=');
  if (equals < 0) return { flag: word, attached: null };
  return { flag: word.slice(0, equals), attached: word.slice(equals + 1) };
}

/** The first 80 characters of a text from outside, for a message. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
