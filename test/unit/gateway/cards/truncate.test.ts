import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { truncateDescription } from '#src/gateway/cards/truncate.js';
import { loadCounter } from '#src/tokens/counter.js';

const counter = loadCounter();

const oneLine = fc
  .oneof(
    fc.lorem({ maxCount: 20, mode: 'sentences' }),
    fc
      .array(fc.constantFrom('a', ' ', '. ', '.', '!', '?! ', '(', '…', '漢', '😀', 'é', 'word', '[SECRET_12]'), {
        maxLength: 60,
      })
      .map((all) => all.join('')),
  )
  .map((text) => text.replaceAll(/ +/g, ' ').trim());
const budget = fc.nat({ max: 40 });

/** Every sentence end is tried. */
function longestSentences(text: string, budgetTokens: number): string | null {
  for (let end = text.length; end > 0; end--) {
    const isEnd = '.!?'.includes(text[end - 1] ?? '-') && (end === text.length || text[end] === ' ');
    if (isEnd && counter.count(text.slice(0, end)) <= budgetTokens) return text.slice(0, end);
  }
  return null;
}

describe('a description that is cut', () => {
  it('never exceeds its budget and is the same each time', () => {
    fc.assert(
      fc.property(oneLine, budget, (text, budgetTokens) => {
        const cut = truncateDescription(text, budgetTokens, counter);
        expect(counter.count(cut)).toBeLessThanOrEqual(budgetTokens);
        expect(truncateDescription(text, budgetTokens, counter)).toBe(cut);
      }),
    );
  });

  it('is itself if it fits, otherwise the longest whole sentences that fit', () => {
    fc.assert(
      fc.property(oneLine, budget, (text, budgetTokens) => {
        const cut = truncateDescription(text, budgetTokens, counter);
        if (counter.count(text) <= budgetTokens) expect(cut).toBe(text);
        else if (longestSentences(text, budgetTokens) !== null) expect(cut).toBe(longestSentences(text, budgetTokens));
        else expect(cut).toMatch(budgetTokens === 0 ? /^$/ : /…$/);
      }),
    );
  });

  it('begins as the text does, and a character or a token is whole or missing', () => {
    fc.assert(
      fc.property(oneLine, budget, (text, budgetTokens) => {
        const cut = truncateDescription(text, budgetTokens, counter);
        expect(cut.isWellFormed()).toBe(true);
        const kept = text.startsWith(cut) ? cut : cut.slice(0, -1);
        expect(text.startsWith(kept)).toBe(true);
        const unfinished = /\[(?:S(?:E(?:C(?:R(?:E(?:T(?:_\d*)?)?)?)?)?)?)?$/.exec(kept);
        expect(unfinished).toBeNull();
      }),
    );
  });

  it.each([
    ['Reads a file. Then it goes on for long.', 6, 'Reads a file.'],
    ['Is it there? Yes! No.', 7, 'Is it there? Yes!'],
    ['Uses v1.2 of the library and more words', 6, 'Uses v1.2…'],
    ['one two three four five', 3, 'one two…'],
    ['one two three four five', 1, '…'],
    ['one two three four five', 0, ''],
    ['one two three four five', -1, ''],
    ['one', 1, 'one'],
  ])('%j in %i tokens is %j', (text, budgetTokens, expected) => {
    expect(truncateDescription(text, budgetTokens, counter)).toBe(expected);
  });
});
