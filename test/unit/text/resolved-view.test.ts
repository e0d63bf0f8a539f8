import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolvedView } from '#src/text/resolved-view.js';
import { withoutSequences } from '#src/text/terminal.js';
import { cutAfter } from '#src/tokens/cut-points.js';
import { densify, plainLines } from '#src/tokens/densify/densify.js';
import { outputLike, playableLines } from '../tokens/densify/outputs.ts';

const anyOutput = fc.oneof(outputLike(), playableLines());

/** What a later step can show of a text that was searched for secrets, or of a part of it. */
function shownLater(text: string, from: number): string[] {
  const part = text.slice(from);
  const tail = text.slice(text.lastIndexOf('\n') + 1);
  const isPart = from > 0;
  return [
    densify(text, ['ansi', 'progress']).text,
    densify(text, ['progress']).text,
    densify(tail, ['ansi', 'progress']).text,
    densify(part, ['ansi', 'progress'], isPart).text,
    densify(text.slice(0, from), ['ansi', 'progress'], true).text,
    plainLines(text),
  ];
}

/** The lines of a text without sequences, other controls and blanks: those never hide what a line holds from a search. */
function linesOf(text: string): string[] {
  return withoutSequences(text)
    .replace(/[^\S\r\n]|(?![\r\n])\p{Cc}/gu, '')
    .split(/[\r\n]+/);
}

/** The lines of `shown` that none of the searched texts holds. */
function unsearched(shown: string, texts: readonly string[]): string[] {
  const searched = texts.flatMap(linesOf).join('\n');
  return linesOf(shown).filter((line) => !searched.includes(line));
}

describe('SEC-1.1 the resolved view of a text', () => {
  it('holds every line that collapsing puts together later', () => {
    fc.assert(
      fc.property(anyOutput, fc.nat(), (text, at) => {
        const from = cutAfter(text, at % (text.length + 1));
        const searched = [text, text.slice(0, from), text.slice(from), resolvedView(text)?.text ?? ''];
        for (const shown of shownLater(text, from)) expect(unsearched(shown, searched)).toEqual([]);
      }),
    );
  });

  it('still does after secrets were masked in the text', () => {
    fc.assert(
      fc.property(anyOutput, fc.nat(), fc.integer({ min: 1, max: 60 }), (text, at, length) => {
        const start = at % (text.length + 1);
        const masked = `${text.slice(0, start)}[SECRET_1]${text.slice(start + length)}`;
        const searched = [masked, text, resolvedView(text)?.text ?? ''];
        for (const shown of shownLater(masked, 0)) expect(unsearched(shown, searched)).toEqual([]);
      }),
    );
  });

  it('leads from each character back to where it was written', () => {
    const text = 'on\u001b[1mce\u001b[0m and\u001b[5Dup\rtwo\n';
    const view = resolvedView(text);
    const at = view?.text.indexOf('two') ?? -1;
    expect(view?.toOriginal(at, at + 3)).toEqual({ start: text.indexOf('two'), end: text.indexOf('two') + 3 });
  });

  it('is not made of text that a terminal shows as it is written', () => {
    expect(resolvedView('10%\r20%\r30%\n')).toBeNull();
    expect(resolvedView('\u001b[31mred\u001b[0m\u001b[K\r\nplain\n')).toBeNull();
  });
});
