/** Characters that no shell acts on. */
const PLAIN_WORD = /^[\w./@%+=:,-]+$/;
/** What single quotes hold in every shell, and a terminal shows as it is. */
const QUOTABLE = /^[\x20-\x5b\x5d-\x5f\x61-\x7e\p{L}\p{N}\p{M}]+$/u;

/** The text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return PLAIN_WORD.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The same for a name that a command or a repository chose, in a line that a person may paste into any shell. Null for a
 * name with control or invisible characters, backslashes (an escape in fish) or backticks (the marks around commands in
 * messages).
 */
export function pastableWord(text: string): string | null {
  return QUOTABLE.test(text) ? shellWord(text) : null;
}
