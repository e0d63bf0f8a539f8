import type { TokenCounter } from '../../tokens/counter.ts';
import type { ChoiceCard } from './card.ts';

/** What a browse may have on top of CARD_MAX_TOKENS for each of its cards (gateway surface §2.3). */
export const BROWSE_PREAMBLE_MAX_TOKENS = 32;

/**
 * A card as a model reads it, one line without its end: the id, what else a catalogue says of it, then the description. Foreign
 * text comes last, or in quotes or brackets that it cannot close.
 */
export function renderCard(card: ChoiceCard): string {
  const { id, name, description, tags, kind, costHint, sideEffects } = card;
  const facts = [
    ...(kind === 'tool' ? [] : [kind]),
    ...(sideEffects ? ['side effects'] : []),
    ...(costHint > 0 ? [`cost ${Number(costHint.toPrecision(3))}`] : []),
  ];
  return [
    id,
    ...(id.includes(name) ? [] : [`"${name.replaceAll('"', "'")}"`]),
    ...(facts.length === 0 ? [] : [`(${facts.join(', ')})`]),
    ...(tags.length === 0 ? [] : [`[${tags.join(', ')}]`]),
    ...(description === '' ? [] : ['-', description]),
  ].join(' ');
}

/** Cards as a model reads them: each on its line, which ends. The scores are left out. */
export function renderCards(cards: readonly ChoiceCard[]): string {
  return cards.map((card) => `${renderCard(card)}\n`).join('');
}

/** Tokens of the card in a list. Each line begins with a letter, so the tokens of a list are those of its lines. */
export function cardTokens(card: ChoiceCard, counter: TokenCounter): number {
  return counter.count(renderCards([card]));
}
