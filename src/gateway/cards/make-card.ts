import { ContextdError } from '../../core/errors.ts';
import { withoutInvisible } from '../../core/invisible.ts';
import { foreignLine } from '../../text/foreign-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { CatalogItem } from '../item.ts';
import {
  BREAKPOINT_ID,
  CARD_MAX_TOKENS,
  CARD_NAME_MAX_CHARS,
  CARD_TAG_MAX_CHARS,
  CARD_TAGS_MAX,
  CARD_TARGET_TOKENS,
  type CardSafety,
  type ChoiceCard,
  DESCRIPTION_MIN_TOKENS,
} from './card.ts';
import { cardTokens } from './render.ts';
import { truncateDescription } from './truncate.ts';

/** Every form of id: of a tool, a resource or prompt, a `~2` key, a path of the choice graph. It cannot hold a blank. */
const ID = /^[A-Za-z0-9_./:@#~*-]{1,250}$/;

/** The tag of a card for each way in which servers write a safety class. */
const SAFETY_TAGS: ReadonlyMap<string, 'destructive' | 'read-only'> = new Map([
  ['destructive', 'destructive'],
  ['read-only', 'read-only'],
  ['read_only', 'read-only'],
]);

/**
 * The card of an item. Only the description is cut, to what the other fields leave of CARD_TARGET_TOKENS. Foreign text becomes
 * one line that prints and that opens no tag. Throws PAYLOAD_TOO_LARGE if the other fields alone exceed CARD_MAX_TOKENS, and
 * ARGS_INVALID for an id that no catalogue gives out.
 */
export function cardOf(item: CatalogItem, counter: TokenCounter, score?: number): ChoiceCard {
  if (!ID.test(item.id) || item.id === BREAKPOINT_ID) {
    throw new ContextdError(
      'ARGS_INVALID',
      `${JSON.stringify(item.id.slice(0, 64))} is not an id that a card can have`,
      {
        remedy: 'Use letters, digits and _ . / : @ # ~ * - only, at most 250 characters.',
      },
    );
  }
  const card = {
    id: item.id,
    name: firstCharacters(foreignLine(item.name), CARD_NAME_MAX_CHARS),
    description: '',
    ...safeTags(item.tags),
    kind: item.kind,
    namespace: foreignLine(item.namespace),
    hasSchema: item.inputSchema !== undefined && Object.keys(item.inputSchema).length > 0,
    ...(score !== undefined && Number.isFinite(score) && { score }),
    costHint: costOf(item.costHint),
    sideEffects: item.sideEffects === true,
  };
  return Object.freeze({ ...card, description: fitDescription(card, foreignLine(item.description), counter) });
}

/** The longest description with which the card fits. */
function fitDescription(card: ChoiceCard, text: string, counter: TokenCounter): string {
  const fixed = cardTokens(card, counter);
  if (fixed > CARD_MAX_TOKENS) {
    throw new ContextdError('PAYLOAD_TOO_LARGE', `The card of ${card.id} has ${fixed} tokens without its description`, {
      remedy: `Shorten its name or its tags: a card has at most ${CARD_MAX_TOKENS} tokens.`,
      details: { id: card.id, tokens: fixed, maxTokens: CARD_MAX_TOKENS },
    });
  }
  const most = Math.min(CARD_MAX_TOKENS, Math.max(CARD_TARGET_TOKENS, fixed + DESCRIPTION_MIN_TOKENS));
  for (let budget = most - fixed; budget > 0; budget--) {
    const description = truncateDescription(text, budget, counter);
    if (cardTokens({ ...card, description }, counter) <= most) return description;
  }
  return '';
}

/** Safety tags first, then the others by name, as far as there is room; sorted in the end. */
function safeTags(tags: readonly string[]): { tags: readonly string[]; safety: CardSafety } {
  const distinct = new Set(tags.map(tagOf).filter((tag) => tag !== ''));
  const isSafety = (tag: string): boolean => SAFETY_TAGS.get(tag) === tag;
  const ordered = [...distinct].sort((a, b) => Number(isSafety(b)) - Number(isSafety(a)) || (a < b ? -1 : 1));
  const safety = distinct.has('destructive') ? 'destructive' : distinct.has('read-only') ? 'read_only' : '';
  return { tags: Object.freeze(ordered.slice(0, CARD_TAGS_MAX).sort()), safety };
}

/** A tag cannot end the list of tags, or look like two. */
function tagOf(text: string): string {
  const tag = foreignLine(text).replaceAll(/[[\],]+/g, '-');
  const safety = SAFETY_TAGS.get(tag.toLowerCase());
  if (safety !== undefined || tag.length <= CARD_TAG_MAX_CHARS) return safety ?? tag;
  // A number that is cut must not pass for a smaller one.
  return `${firstCharacters(tag, CARD_TAG_MAX_CHARS - 1)}…`;
}

/** Never half a character, and nothing invisible at the cut of an emoji. */
function firstCharacters(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return withoutInvisible(text.slice(0, maxChars)).trim();
}

function costOf(hint: number | undefined): number {
  return hint !== undefined && Number.isFinite(hint) && hint > 0 ? hint : 0;
}
