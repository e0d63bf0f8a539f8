import type { JsonObject } from '../../core/json.ts';
import type { ItemKind } from '../item.ts';

/** What a card aims at, in cl100k tokens of its line with the line end (gateway surface §2.3). */
export const CARD_TARGET_TOKENS = 60;
/** What no card exceeds. */
export const CARD_MAX_TOKENS = 80;
/** What a card keeps for its description even beyond the target, if its other fields are long (decision 0094). */
export const DESCRIPTION_MIN_TOKENS = 12;

export const CARD_NAME_MAX_CHARS = 64;
export const CARD_TAGS_MAX = 5;
export const CARD_TAG_MAX_CHARS = 24;

/** The id of the card that parts known cards from new ones (§5.1). No other card has it, and no text of a card holds it. */
export const BREAKPOINT_ID = '__cache_breakpoint__';

/** `destructive` wins over `read_only`. A hint of the server, never an authorization. */
export type CardSafety = '' | 'read_only' | 'destructive';

/** What a card never carries, in any spelling (§2.2): an object that has one of these is no card. */
type NeverOnACard = {
  readonly [Name in
    | 'args_schema'
    | 'argsSchema'
    | 'input_schema'
    | 'inputSchema'
    | 'output_schema'
    | 'outputSchema'
    | 'examples'
    | 'annotations'
    | 'metadata'
    | '_meta'
    | 'url'
    | 'transport']?: never;
};

/** What a model sees of something it can choose (gateway surface §2.1). No other field may be added. */
export interface ChoiceCard extends NeverOnACard {
  readonly id: string;
  /** At most CARD_NAME_MAX_CHARS characters. */
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** Sorted and distinct, at most CARD_TAGS_MAX of at most CARD_TAG_MAX_CHARS characters. Safety tags come before all others. */
  readonly tags: readonly string[];
  readonly kind: ItemKind;
  readonly namespace: string;
  readonly hasSchema: boolean;
  /** Only in JSON. */
  readonly score?: number;
  /** 0 for none. */
  readonly costHint: number;
  readonly sideEffects: boolean;
  readonly safety: CardSafety;
}

/** The card as data (§2.1): the fields that say something, in a fixed order. */
export function cardJson(card: ChoiceCard): JsonObject {
  const { id, name, description, tags, kind, namespace, hasSchema, score, costHint, sideEffects, safety } = card;
  return {
    id,
    name,
    description,
    ...(tags.length > 0 && { tags }),
    kind,
    namespace,
    has_schema: hasSchema,
    ...(score !== undefined && { score }),
    ...(costHint > 0 && { cost_hint: costHint }),
    ...(sideEffects && { side_effects: true }),
    ...(safety !== '' && { safety }),
  };
}
