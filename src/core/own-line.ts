/** How every line begins that contextd itself prints on stderr. No line of a command's output begins so. */
export const OWN_LINE_START = '[contextd ';

/**
 * A line of contextd itself, without its newline. Messages may hold text from elsewhere: control characters are removed, and
 * what reads as the beginning of a line of contextd is escaped, because a terminal may wrap the line just before it.
 */
export function ownLine(text: string): string {
  return `${OWN_LINE_START}${singleLine(text).replaceAll(/\[(?=\s*contextd)/gi, '\\[')}]`;
}

/** One line without control characters, which would steer a terminal or end the line. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Most characters of a name in a sentence; of a longer one the beginning and the end are shown. */
const NAME_MAX_CHARS = 120;
/** Letters, figures and the signs of ordinary paths; also a token that stands for a secret. */
const PLAIN_NAME = /^(?:[\p{L}\p{N}\p{M}_@%+=:,./~#-]|\[SECRET(?:_\d+)?\])+$/u;
const PLAIN_CHARACTER = /^[\x20-\x7e\p{L}\p{N}\p{M}\u2026]$/u;

/**
 * A name in a sentence of contextd that a command or a repository chose, such as a path or a section of git's configuration.
 * Anything but plain characters of a path is quoted as JSON, with brackets and everything invisible as `\uXXXX`, so that
 * the name cannot be read as a part of the sentence or as its end.
 */
export function quoteName(name: string): string {
  const characters = Array.from(name);
  const half = NAME_MAX_CHARS / 2;
  const isLong = characters.length > NAME_MAX_CHARS;
  const kept = isLong ? `${characters.slice(0, half).join('')}…${characters.slice(-half).join('')}` : name;
  if (!isLong && PLAIN_NAME.test(name)) return name;
  const quoted = JSON.stringify(kept);
  return Array.from(quoted, (character) => (isPlain(character) ? character : escaped(character))).join('');
}

function isPlain(character: string): boolean {
  return PLAIN_CHARACTER.test(character) && character !== '[' && character !== ']';
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }).join('');
}
