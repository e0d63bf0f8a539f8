/** Flags of the proxy itself; a tool's property of such a name is reached through JSON alone. */
export const OWN_SWITCHES: readonly string[] = ['help', 'extended', 'schema', 'progress'];
export const OUT = 'out';

/** The command line and how far it has been read. */
export interface Words {
  args: readonly string[];
  /** Index of the next word. */
  at: number;
}

/** A flag and the value it has in the same word, as in `--key=value`; null: none. */
export interface SplitFlag {
  flag: string;
  attached: string | null;
}

export function splitFlag(word: string): SplitFlag {
  const equals = word.indexOf('=');
  if (equals < 0) return { flag: word, attached: null };
  return { flag: word.slice(0, equals), attached: word.slice(equals + 1) };
}

/** Text of a caller's or a file's in a message: at most 80 characters of it. */
export function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
