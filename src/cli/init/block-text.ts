import { type Inserted, insert } from './insertions.ts';

const BEGIN = '# contextd: managed by ctxd init';
const END = '# contextd: end';

/** True when the text holds the managed block with exactly these lines. */
export function hasBlock(text: string, lines: readonly string[]): boolean {
  return findBlock(text)?.body === blockOf(lines);
}

/** Puts the block at the end of a line-based text such as a .gitignore. */
export function putBlock(present: Inserted, lines: readonly string[]): Inserted {
  const { text } = present;
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  return insert(present, text.length, gap + blockOf(lines));
}

/** The text without the managed block; unchanged when there is none. */
export function removeBlock(text: string): string {
  const found = findBlock(text);
  return found === undefined ? text : text.slice(0, found.start) + text.slice(found.end);
}

function blockOf(lines: readonly string[]): string {
  return [BEGIN, ...lines, END, ''].join('\n');
}

function findBlock(text: string): { start: number; end: number; body: string } | undefined {
  const found = new RegExp(`^${BEGIN}\\r?\\n(?:.*\\n)*?${END}(?:\\r?\\n|$)`, 'm').exec(text);
  return found === null ? undefined : { start: found.index, end: found.index + found[0].length, body: found[0] };
}
