import { codePointName, INVISIBLE_CLASS } from '../../core/invisible.ts';

const COLUMNS_UNKNOWN = 80;
const QUOTE = '  | ';
/** Empty lines in a row that are shown as they are. */
const EMPTY_LINES_MAX = 2;

/**
 * Text of an agent, quoted so that it can neither control the terminal nor look like a line of contextd: every line begins
 * with `  | `, also where the terminal would wrap it, and whatever is invisible or changes the order or place of other
 * characters is written as an escape. Nothing is left out but lines that are empty or only spaces, whose number is said
 * on a line that begins with `  ~ `.
 */
export function quotedLines(text: string, columns = COLUMNS_UNKNOWN): string[] {
  const width = Math.max(20, columns - QUOTE.length - 1);
  const quoted: string[] = [];
  let empty = 0;
  const flush = (): void => {
    if (empty > EMPTY_LINES_MAX) quoted.push(`  ~ ${empty} empty lines`);
    else quoted.push(...Array<string>(empty).fill(QUOTE.trimEnd()));
    empty = 0;
  };
  for (const line of text.split('\n')) {
    if (EMPTY.test(line)) {
      empty += 1;
      continue;
    }
    flush();
    for (const part of wrapped(visible(line), width)) quoted.push(QUOTE + part);
  }
  flush();
  return quoted;
}

/** All on one line, at most `maxChars` characters. */
export function quotedStart(text: string, maxChars: number): string {
  const shown = visible(text.slice(0, maxChars * 2).replaceAll(/[ \n]+/g, ' '));
  return shown.length <= maxChars && text.length <= maxChars * 2 ? shown : `${shown.slice(0, maxChars)}…`;
}

/** Only spaces: a shell takes most other blanks for a part of a word, and so runs a line of them. */
const EMPTY = /^ *$/;
/** What a person does not see, marks, and every blank but U+0020. The joiners of an emoji too: they may name a command. */
const UNSEEN = new RegExp(`(?! )(?:${INVISIBLE_CLASS}|[\\p{M}\\p{Z}])`, 'gu');

function visible(text: string): string {
  return text.replaceAll(UNSEEN, (character) => `<${codePointName(character)}>`);
}

/** Parts of at most `width` columns. A character outside ASCII counts two, as wide ones take. */
function wrapped(line: string, width: number): string[] {
  const parts: string[] = [];
  let [part, taken] = ['', 0];
  for (const character of line) {
    const columns = character < '\u0080' ? 1 : 2;
    if (taken + columns > width) {
      parts.push(part);
      [part, taken] = ['', 0];
    }
    part += character;
    taken += columns;
  }
  return [...parts, part];
}
