import { type GitEntry, parseGitConfig } from '../../guard/git/config.ts';

/** Whether a value has at most this many characters and no control characters. The text has one character per byte. */
export function isPlainText(value: string, maxLength: number): boolean {
  return value.length <= maxLength && [...value].every((char) => char >= ' ' && char !== '\u007f');
}

/** Whether git reads a value as true. */
export function isTrue(value: string | null): boolean {
  return value === null || /^(true|yes|on|[1-9]\d*)$/i.test(value);
}

/** A value as git reads it back. It must not contain a NUL. */
export function quoteValue(value: string): string {
  const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `"${escaped}"`;
}

/** An entry in the form that git reads. Its value must not contain a NUL. */
export function writeEntry({ key, subsection, value }: GitEntry): string {
  const [section, name] = key.split('.');
  const header = subsection === null ? section : `${section} "${subsection.replace(/[\\"]/g, '\\$&')}"`;
  return `[${header}]\n\t${name}${value === null ? '' : ` = ${quoteValue(value)}`}\n`;
}

/** Those of the keys that a configuration switches on. */
export function keysSwitchedOn(text: string, keys: readonly string[]): string[] {
  const entries = parseGitConfig(text) ?? [];
  return keys.filter((name) =>
    entries.some(({ key, subsection, value }) => key === name && subsection === null && isTrue(value)),
  );
}

/** The configuration with these keys switched off: a later entry counts. */
export function switchOff(text: string, keys: readonly string[]): string {
  if (keys.length === 0) return text;
  return `${text.endsWith('\n') ? text : `${text}\n`}${switchesOff(keys)}`;
}

export function switchesOff(keys: readonly string[]): string {
  return keys.map((name) => `[${name.replace('.', ']\n\t')} = false\n`).join('');
}
