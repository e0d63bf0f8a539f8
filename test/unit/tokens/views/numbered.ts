import { expect } from 'vitest';

/** A line of a view in grep's form. */
export interface Shown {
  number: number;
  mark: ':' | '-';
  text: string;
}

/** The lines of `12:text`, `13-text` and `--`; a new group starts if numbers are not consecutive. */
export function readNumbered(view: string): Shown[] {
  if (view === '') return [];
  expect(view.endsWith('\n')).toBe(true);
  const shown: Shown[] = [];
  for (const line of view.slice(0, -1).split('\n')) {
    if (line === '--') continue;
    const [, number, mark, text = ''] = /^(\d+)([:-])([^\n]*)$/.exec(line) ?? [];
    if (mark !== ':' && mark !== '-') throw new Error(`no numbered line: ${line}`);
    shown.push({ number: Number(number), mark, text });
  }
  return shown;
}

/** The lines of a text as the views number them. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** Every line is the line of its number, in order, and `--` appears exactly where lines are left out. */
export function expectFaithful(view: string, text: string): void {
  const lines = linesOf(text);
  const shown = readNumbered(view);
  const again = shown.map(({ number, mark, text: line }, at) => {
    const before = shown[at - 1]?.number;
    return `${before !== undefined && number > before + 1 ? '--\n' : ''}${number}${mark}${line}\n`;
  });
  expect(view).toBe(again.join(''));
  for (const [at, { number, text: line }] of shown.entries()) {
    expect(line).toBe(lines[number - 1]);
    expect(number).toBeGreaterThan(shown[at - 1]?.number ?? 0);
  }
}
