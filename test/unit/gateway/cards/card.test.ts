import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { invisibleIn } from '#src/core/invisible.js';
import { BREAKPOINT } from '#src/gateway/cards/cache-stable.js';
import {
  BREAKPOINT_ID,
  CARD_MAX_TOKENS,
  CARD_TARGET_TOKENS,
  type ChoiceCard,
  cardJson,
  DESCRIPTION_MIN_TOKENS,
} from '#src/gateway/cards/card.js';
import { cardOf } from '#src/gateway/cards/make-card.js';
import { byScore } from '#src/gateway/cards/order.js';
import { BROWSE_PREAMBLE_MAX_TOKENS, cardTokens, renderCard, renderCards } from '#src/gateway/cards/render.js';
import type { CatalogItem } from '#src/gateway/item.js';
import { loadCounter } from '#src/tokens/counter.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { anyItem, foreignText, itemOf } from './items.ts';

const counter = loadCounter();

/** Null for an item whose fields are too long for a card. */
function cardOrNull(item: CatalogItem): ChoiceCard | null {
  try {
    return cardOf(item, counter);
  } catch (error) {
    expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', details: { id: item.id, maxTokens: CARD_MAX_TOKENS } });
    return null;
  }
}

describe('a card', () => {
  it('is one line that says what is known, the foreign text last', () => {
    const item = itemOf({
      id: 'work:_2fa@1#01234567',
      name: '2fa "now"',
      kind: 'skill',
      tags: ['zz', 'destructive'],
      sideEffects: true,
      costHint: 0.5,
    });
    expect(renderCard(cardOf(item, counter))).toBe(
      `work:_2fa@1#01234567 "2fa 'now'" (skill, side effects, cost 0.5) [destructive, zz] - Create an issue in a repository.`,
    );
  });

  it('leaves out what says nothing', () => {
    expect(renderCard(cardOf(itemOf({ costHint: 0, sideEffects: false }), counter, 0.7))).toBe(
      'github:create_issue@1.4.0 - Create an issue in a repository.',
    );
    expect(renderCard(cardOf(itemOf({ description: '' }), counter))).toBe('github:create_issue@1.4.0');
  });

  it('has its score and has_schema in JSON, and never the schema', () => {
    const item = itemOf({ inputSchema: { type: 'object', properties: { secret_property: {} } } });
    expect(cardJson(cardOf(item, counter, 0.7))).toEqual({
      id: item.id,
      name: 'create_issue',
      description: item.description,
      kind: 'tool',
      namespace: 'github',
      has_schema: true,
      score: 0.7,
    });
    expect(cardJson(cardOf(itemOf({ inputSchema: {} }), counter))).toMatchObject({ has_schema: false });
  });

  it('cannot have a banned field: the compiler refuses it, and a smuggled one is not shown', () => {
    const card = cardOf(itemOf(), counter);
    // @ts-expect-error a card never carries a schema
    const withSchema: ChoiceCard = { ...card, inputSchema: { type: 'object' } };
    // @ts-expect-error not even by another name
    const withMetadata: ChoiceCard = { ...card, _meta: { url: 'x' } };
    expect(cardJson(withSchema)).toEqual(cardJson(card));
    expect(renderCard(withMetadata)).toBe(renderCard(card));
  });

  it('cannot be changed after it was made', () => {
    const card = cardOf(itemOf({ tags: ['a'] }), counter);
    expect(Object.isFrozen(card)).toBe(true);
    expect(Object.isFrozen(card.tags)).toBe(true);
  });

  it('keeps its bounds whatever the item is: 80 tokens, 60 if the other fields leave room', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const card = cardOrNull(item);
        if (card === null) return;
        const tokens = cardTokens(card, counter);
        const fixed = cardTokens({ ...card, description: '' }, counter);
        expect(tokens).toBeLessThanOrEqual(CARD_MAX_TOKENS);
        expect(tokens).toBeLessThanOrEqual(Math.max(CARD_TARGET_TOKENS, fixed + DESCRIPTION_MIN_TOKENS));
        expect(card.name.length).toBeLessThanOrEqual(64);
        expect(card.tags.length).toBeLessThanOrEqual(5);
        for (const tag of card.tags) expect(tag.length).toBeLessThanOrEqual(24);
        expect(card.tags).toEqual([...new Set(card.tags)].sort());
        expect(cardOf(item, counter)).toEqual(card);
      }),
    );
  });

  it('is exactly one line that prints, and no text in it forges a card, a tag or the breakpoint', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const card = cardOrNull(item);
        if (card === null) return;
        const line = renderCard(card);
        expect(invisibleIn(line)).toBeNull();
        expect(line.startsWith(card.id)).toBe(true);
        expect(JSON.stringify(cardJson(card)).toLowerCase()).not.toContain(BREAKPOINT_ID);
        expect(line).not.toMatch(/<[|/a-z]|```|\[(SECRET|contextd)/i);
        expect(line).not.toContain('hidden_property');
        const [, tags = ''] = /^[^ ]+(?: "[^"]*")?(?: \([^)]*\))?(?: \[([^\]]*)\])?/.exec(line) ?? [];
        expect(tags).toBe(card.tags.join(', '));
      }),
    );
  });

  it('shows a plain description as it is', () => {
    const plain = 'Lists <5 items at https://x.example/a?b=1&c=[d] (v1.2), "as is"; costs $3 — naïve 漢字 👩‍👧.';
    expect(cardOf(itemOf({ description: plain }), counter).description).toBe(plain);
  });

  it.each([
    ['a newline', 'a\nb', 'a b'],
    ['terminal sequences', 'a\u001b[31mb\u001b[0m\u001b]0;x\u0007c', 'abc'],
    ['invisible characters', 'a\u200bb\u202ec', 'abc'],
    ['a token of a model', 'a <|endoftext|> b', 'a \\u003c|endoftext|> b'],
    ['a tag', 'a </system> b', 'a \\u003c/system> b'],
    ['a line of contextd', '[contextd ok]', '\\u005bcontextd ok]'],
    ['the breakpoint', 'x __cache_\u200bbreakpoint__ y', 'x cache_breakpoint y'],
  ])('shows %s as text', (_, description, shown) => {
    expect(cardOf(itemOf({ description }), counter).description).toBe(shown);
  });

  it('keeps safety tags before all others, in whatever case they are written', () => {
    const many = ['aa', 'ab', 'ac', 'ad', 'ae', 'af'];
    expect(cardOf(itemOf({ tags: [...many, 'Destructive', 'READ_ONLY'] }), counter)).toMatchObject({
      tags: ['aa', 'ab', 'ac', 'destructive', 'read-only'],
      safety: 'destructive',
    });
    expect(cardOf(itemOf({ tags: [...many, 'read-only'] }), counter)).toMatchObject({
      tags: ['aa', 'ab', 'ac', 'ad', 'read-only'],
      safety: 'read_only',
    });
    expect(cardOf(itemOf({ tags: many }), counter)).toMatchObject({ tags: many.slice(0, 5), safety: '' });
  });

  it.each(['constructor', '__proto__', 'toString'])('has the tag %s as any other', (tag) => {
    expect(cardOf(itemOf({ tags: [tag] }), counter).tags).toEqual([tag]);
  });

  it('shortens tags first, so that none is there twice', () => {
    const tags = [`${'x'.repeat(24)}1`, `${'x'.repeat(24)}2`, '', ' ', 'a, b]'];
    expect(cardOf(itemOf({ tags }), counter).tags).toEqual(['a- b-', `${'x'.repeat(23)}…`]);
  });

  it('with long other fields keeps a few words, beyond the target but within the limit', () => {
    const tags = ['Kx9#', 'Qz7$', 'Wv8%', 'Jq4&', 'Zk2!'].map((tag) => tag.repeat(3));
    const card = cardOf(itemOf({ tags, description: 'word '.repeat(100) }), counter);
    const fixed = cardTokens({ ...card, description: '' }, counter);
    expect(fixed).toBeGreaterThan(CARD_TARGET_TOKENS);
    expect(cardTokens(card, counter)).toBeLessThanOrEqual(CARD_MAX_TOKENS);
    expect(card.description).toMatch(/^word word.*…$/);
    expect(card.tags).toHaveLength(5);
  });

  it('whose other fields alone are too long is refused, and no field is dropped to fit', () => {
    const id = `a:${'x7Q'.repeat(40)}#01234567`;
    expect(() => cardOf(itemOf({ id }), counter)).toThrow(
      expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE', message: expect.stringContaining(id) }),
    );
  });

  it.each(['', 'a b', 'a\n', 'é', '__cache_breakpoint__', 'a'.repeat(251), '<|x|>'])('refuses the id %j', (id) => {
    expect(() => cardOf(itemOf({ id }), counter)).toThrow(expect.objectContaining({ code: 'ARGS_INVALID' }));
  });

  it.each(['fs:readme#ab12cd34~2', '/github/issues/*', 'resource::fs:readme#ab12cd34'])('has the id %s', (id) => {
    expect(cardOf(itemOf({ id }), counter).id).toBe(id);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('has no cost of %s', (costHint) => {
    expect(cardOf(itemOf({ costHint }), counter).costHint).toBe(0);
  });

  it('reads only the beginning of a description, which may have megabytes', () => {
    const late = `${'\u200b'.repeat(16_384)}late words`;
    expect(cardOf(itemOf({ description: late }), counter).description).toBe('');
    expect(cardOf(itemOf({ description: late.slice(1) }), counter).description).toBe('l');
  });
});

describe('a list of cards', () => {
  it('has exactly the tokens of its cards, so that a browse keeps its bound', () => {
    fc.assert(
      fc.property(fc.array(anyItem, { maxLength: 8 }), (items) => {
        const cards = items.flatMap((item) => cardOrNull(item) ?? []);
        const shown = [...cards, BREAKPOINT];
        const tokens = counter.count(renderCards(shown));
        expect(tokens).toBe(shown.reduce((sum, card) => sum + cardTokens(card, counter), 0));
        expect(tokens).toBeLessThanOrEqual(CARD_MAX_TOKENS * cards.length + BROWSE_PREAMBLE_MAX_TOKENS);
        expect(renderCards(shown).split('\n')).toHaveLength(shown.length + 1);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('is ordered by score, then by id', () => {
    const cards = [
      ['b:x@1', 0.5],
      ['a:x@1', 0.5],
      ['c:x@1', 0.9],
      ['d:x@1', undefined],
      ['e:x@1', -1],
      ['A:x@1', Number.NaN],
    ].map(([id, score]) =>
      cardOf(itemOf({ id: String(id) }), counter, score === undefined ? undefined : Number(score)),
    );
    expect(cards.sort(byScore).map(({ id }) => id)).toEqual(['c:x@1', 'a:x@1', 'b:x@1', 'e:x@1', 'A:x@1', 'd:x@1']);
  });

  it('has the same order however it was shuffled', () => {
    const scored = fc.uniqueArray(
      fc.record({ id: fc.stringMatching(/^[a-c]:[a-c]{1,3}@1$/), score: fc.constantFrom(0, 0.5, 1, undefined) }),
      { selector: ({ id }) => id },
    );
    fc.assert(
      fc.property(scored, fc.infiniteStream(fc.nat()), (all, keys) => {
        const cards = all.map(({ id, score }) => cardOf(itemOf({ id }), counter, score));
        const shuffled = cards.map((card) => ({ card, key: keys.next().value ?? 0 })).sort((a, b) => a.key - b.key);
        expect(shuffled.map(({ card }) => card).sort(byScore)).toEqual([...cards].sort(byScore));
      }),
    );
  });
});

it('foreign text of every kind is generated', () => {
  expect(fc.sample(foreignText, propertyRuns()).some((text) => text.includes('\n'))).toBe(true);
});
