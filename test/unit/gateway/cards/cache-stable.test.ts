import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BREAKPOINT, createSeenCards } from '#src/gateway/cards/cache-stable.js';
import { BREAKPOINT_ID, type ChoiceCard } from '#src/gateway/cards/card.js';
import { cardOf } from '#src/gateway/cards/make-card.js';
import { renderCards } from '#src/gateway/cards/render.js';
import { loadCounter } from '#src/tokens/counter.js';
import { itemOf } from './items.ts';

const counter = loadCounter();

function card(name: string, score?: number, description = `What ${name} does.`): ChoiceCard {
  return cardOf(itemOf({ id: `a:${name}@1`, name, description }), counter, score);
}

const namesOf = (cards: readonly ChoiceCard[]): string[] => cards.map(({ name }) => name);

describe('cards in the order of a prompt cache', () => {
  it('are by id in the first browse, without a breakpoint, and keep their scores', () => {
    const shown = createSeenCards().arrange([card('z', 0.9), card('b', 0.5), card('m', 0.7)]);
    expect(namesOf(shown)).toEqual(['b', 'm', 'z']);
    expect(shown.map(({ score }) => score)).toEqual([0.5, 0.7, 0.9]);
  });

  it('that were seen come first, then the breakpoint, then the new ones', () => {
    const seen = createSeenCards();
    seen.arrange([card('m'), card('z')]);
    expect(namesOf(seen.arrange([card('a'), card('z'), card('n'), card('m')]))).toEqual([
      'm',
      'z',
      BREAKPOINT_ID,
      'a',
      'n',
    ]);
    expect(seen.arrange([card('z'), card('a'), card('b')])[2]).toBe(BREAKPOINT);
  });

  it('have no breakpoint if all were seen, or none', () => {
    const seen = createSeenCards();
    seen.arrange([card('b'), card('a')]);
    expect(namesOf(seen.arrange([card('b'), card('a')]))).toEqual(['a', 'b']);
    expect(namesOf(seen.arrange([card('d'), card('c')]))).toEqual(['c', 'd']);
    expect(seen.arrange([])).toEqual([]);
  });

  it('stay as they were first seen, whatever changes later', () => {
    const seen = createSeenCards();
    const [first] = seen.arrange([card('a', 0.9, 'As it was.')]);
    expect(seen.arrange([card('a', 0.1, 'Other.')])).toEqual([first]);
    seen.clear();
    expect(seen.arrange([card('a', 0.1, 'Other.')])[0]).toMatchObject({ score: 0.1, description: 'Other.' });
  });

  it('that were hydrated count as seen, as they were then', () => {
    const seen = createSeenCards();
    seen.add(card('b', undefined, 'Hydrated.'));
    expect(seen.arrange([card('a'), card('b', 0.9)]).map(({ description }) => description)).toEqual([
      'Hydrated.',
      BREAKPOINT.description,
      'What a does.',
    ]);
  });

  it('begin with the same bytes as long as the same cards are asked for, whatever is asked beside them', () => {
    const names = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { minLength: 1 });
    fc.assert(
      fc.property(names, fc.array(fc.tuple(names, fc.double({ noNaN: true })), { maxLength: 6 }), (first, later) => {
        const seen = createSeenCards();
        const prefix = renderCards(seen.arrange(first.map((name) => card(name, 1))));
        for (const [others, score] of later) {
          const asked = [...new Set([...others, ...first])].map((name) => card(name, score, `${score}`));
          const shown = seen.arrange(asked);
          const known = shown.filter(({ name }) => first.includes(name));
          expect(renderCards(known)).toBe(prefix);
          expect(
            namesOf(shown)
              .filter((name) => name !== BREAKPOINT_ID)
              .sort(),
          ).toEqual(namesOf(asked).sort());
          expect(shown.filter(({ id }) => id === BREAKPOINT_ID).length).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});
