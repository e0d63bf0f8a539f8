/** How every line begins that contextd itself prints on stderr. No line of a command's output begins so. */
export const OWN_LINE_START = '[contextd ';

/** A line of contextd itself, without its newline. Paths and messages come from elsewhere: control characters are removed. */
export function ownLine(text: string): string {
  return `${OWN_LINE_START}${singleLine(text)}]`;
}

/** One line without control characters, which would steer a terminal or end the line. */
export function singleLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
