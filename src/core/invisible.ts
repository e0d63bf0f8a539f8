/** Controls, bidirectional and format characters, fillers, unassigned ones: what a person does not see, or sees elsewhere. */
export const INVISIBLE_CLASS =
  '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]';
const INVISIBLE = new RegExp(INVISIBLE_CLASS, 'u');
/** Joiners and selectors inside a known emoji are part of a picture. */
const KNOWN_EMOJI = '\\p{RGI_Emoji}';
/** As a literal it would need a newer target of the compiler than the daemon has. */
const EMOJI = new RegExp(KNOWN_EMOJI, 'gv');
const EMOJI_OR_INVISIBLE = new RegExp(`(${KNOWN_EMOJI})|${INVISIBLE_CLASS}`, 'gv');
const LINE_CHARACTERS = /[\n\t]/g;
/** Most texts. The search for emoji takes ten times as long as this. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/**
 * The first character that does not print, such as `U+202E`; null if all print. A text that is shown to a person or
 * read by an agent must not hold one: what they read would not be what is there. `document`: line feeds and tabs are text.
 */
export function invisibleIn(text: string, kind: 'line' | 'document' = 'line'): string | null {
  const plain = kind === 'line' ? text : text.replaceAll(LINE_CHARACTERS, ' ');
  if (PRINTABLE_ASCII.test(plain)) return null;
  const found = INVISIBLE.exec(plain.replaceAll(EMOJI, '\u25a1'))?.[0];
  return found === undefined ? null : codePointName(found);
}

/** As Unicode writes it, such as `U+202E`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** A line without the characters that `invisibleIn` names. */
export function withoutInvisible(line: string): string {
  return PRINTABLE_ASCII.test(line) ? line : line.replaceAll(EMOJI_OR_INVISIBLE, '$1');
}

/** Control characters, line ends of Unicode and marks that turn the direction of text: what a terminal or an editor obeys. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** The same JSON value in text that a terminal can show: `JSON.stringify` itself escapes only the first 32 controls. */
export function escapedJson(json: string): string {
  return json.replaceAll(OBEYED, unicodeEscape);
}

/** Such as `\u202e`, as JSON writes it. All characters of `OBEYED` have four digits. */
export function escapedText(text: string): string {
  return text.replaceAll(OBEYED, (character) => (/[\n\t]/.test(character) ? character : unicodeEscape(character)));
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
