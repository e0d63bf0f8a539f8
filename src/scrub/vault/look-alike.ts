/**
 * `[SECRET_7]` in a text that contextd did not write must not be opened as secret 7. It gets a backslash,
 * `[SECRET\_7]`, and n backslashes become n + 1, so that this can be undone exactly. Scrubbing runs once over the raw
 * strings of an answer: on its own result it would neutralise the tokens.
 */
const TOKEN = /\[SECRET(\\*)_(\d+)\]/g;

export function tokenOf(number: number): string {
  return `[SECRET_${number}]`;
}

/** Stands for a secret that has no number and cannot be opened. */
export const UNNUMBERED = '[SECRET]';

/** `handed`: what `handedIn` found in texts that were scrubbed before; it stays. Default: nothing. */
export function escapeLookAlikes(text: string, handed?: ReadonlySet<string>): string {
  if (!text.includes('[SECRET')) return text;
  return text.replace(TOKEN, (token: string, slashes: string, digits: string) =>
    handed?.has(token) === true ? token : `[SECRET\\${slashes}_${digits}]`,
  );
}

/** What `escapeLookAlikes` may have left or made in a text: its tokens and neutralised look-alikes, each once. */
export function handedIn(text: string): string[] {
  return text.includes('[SECRET') ? [...new Set(text.match(TOKEN) ?? [])] : [];
}

/** Undoes `escapeLookAlikes` and replaces every token by `open(digits, start, end)`. */
export function replaceTokens(text: string, open: (digits: string, start: number, end: number) => string): string {
  return text.replace(TOKEN, (token: string, slashes: string, digits: string, start: number) =>
    slashes.length > 0 ? `[SECRET${slashes.slice(1)}_${digits}]` : open(digits, start, start + token.length),
  );
}

/** The digits of the tokens in a text, each once, in order of appearance. */
export function tokenDigits(text: string): string[] {
  if (!text.includes('[SECRET_')) return [];
  const found = [...text.matchAll(TOKEN)].filter(([, slashes]) => slashes === '');
  return [...new Set(found.map(([, , digits = '']) => digits))];
}

/** The neutralised look-alikes in a text, each once, as `escapeLookAlikes` shows them. */
export function shownLookAlikes(text: string): string[] {
  if (!text.includes('[SECRET\\')) return [];
  return [...new Set([...text.matchAll(TOKEN)].flatMap(([token, slashes]) => (slashes === '' ? [] : [token])))];
}
