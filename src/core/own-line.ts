/** The start of every line that contextd itself prints on stderr. No line of command output starts with it. */
export const OWN_LINE_START = '[contextd ';

/**
 * A line of contextd itself, without its newline. Messages may contain text from elsewhere: control characters are
 * removed, and anything like the start of a contextd line is escaped, because a terminal may wrap just before it.
 */
export function ownLine(text: string): string {
  return `${OWN_LINE_START}${singleLine(text).replaceAll(/\[(?=\s*contextd)/gi, '\\[')}]`;
}

/** Replaces line breaks and control characters, which could steer a terminal, with spaces. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Maximum characters of a quoted name; a longer one keeps its beginning and end. */
const NAME_MAX_CHARS = 120;
/** Letters, digits and the punctuation of ordinary paths; also a secret token. */
const PLAIN_NAME = /^(?:[\p{L}\p{N}\p{M}_@%+=:,./~#-]|\[SECRET(?:_\d+)?\])+$/u;
const PLAIN_CHARACTER = /^[\x20-\x7e\p{L}\p{N}\p{M}\u2026]$/u;

/**
 * Formats a name chosen by a command or a repository, such as a path or a git config section, for a sentence of
 * contextd. Unless it has only plain path characters, it is quoted as JSON, with brackets and invisible characters as
 * `\uXXXX`, so that it cannot be read as part of the sentence or end it.
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
