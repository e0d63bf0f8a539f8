/**
 * `[SECRET_7]` in a text that contextd did not put there must not be opened as secret 7. It gets a backslash,
 * `[SECRET\_7]`, and n backslashes become n + 1, so that it can be taken back exactly. Scrubbing runs once over the
 * raw strings of an answer: it is not meant to be applied to its own result, whose tokens it would neutralise.
 */
const TOKEN = /\[SECRET(\\*)_(\d+)\]/g;

export function tokenOf(number: number): string {
  return `[SECRET_${number}]`;
}

/** Stands for a secret that has no number and cannot be opened. */
export const UNNUMBERED = '[SECRET]';

export function escapeLookAlikes(text: string): string {
  return text.includes('[SECRET') ? text.replace(TOKEN, '[SECRET\\$1_$2]') : text;
}

/** Takes `escapeLookAlikes` back and puts `open(digits)` in the place of every token. */
export function replaceTokens(text: string, open: (digits: string) => string): string {
  return text.replace(TOKEN, (_token, slashes: string, digits: string) =>
    slashes.length > 0 ? `[SECRET${slashes.slice(1)}_${digits}]` : open(digits),
  );
}
