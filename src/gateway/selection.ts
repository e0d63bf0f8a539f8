import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';

/** The forms of `selectionSchema`. */
export const SELECTION_PROVIDERS = ['json_schema', 'openai', 'anthropic'] as const;
export type SelectionProvider = (typeof SELECTION_PROVIDERS)[number];

export interface SelectionSchemaOptions {
  /** Default `json_schema`: the bare schema. */
  provider?: SelectionProvider;
  /** The property that holds the choice. Default `tool_id`. */
  propertyName?: string;
  /** What `openai` and `anthropic` call the schema: 1 to 64 of A-Z, a-z, 0-9, _ and -. Default `tool_selection`. */
  schemaName?: string;
}

/**
 * A JSON Schema that allows nothing but one of the ids (gateway surface §2.6), so that a model with constrained output cannot
 * invent one. `openai` is its `response_format`, `anthropic` a tool definition. Throws ARGS_INVALID without candidates, and for
 * a provider or a name that none of them accepts.
 */
export function selectionSchema(candidateIds: readonly string[], options: SelectionSchemaOptions = {}): JsonObject {
  const { provider = 'json_schema', propertyName = 'tool_id', schemaName = 'tool_selection' } = options;
  if (candidateIds.length === 0) {
    throw new ContextdError('ARGS_INVALID', 'There is no candidate to choose from', {
      remedy: 'Browse with other words, or by path.',
    });
  }
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(schemaName)) {
    throw new ContextdError('ARGS_INVALID', `${JSON.stringify(schemaName)} is not a name for a schema`, {
      remedy: 'Use 1 to 64 letters, digits, _ and -.',
    });
  }
  const schema = {
    type: 'object',
    properties: { [propertyName]: { type: 'string', enum: [...new Set(candidateIds)] } },
    required: [propertyName],
    additionalProperties: false,
  };
  switch (provider) {
    case 'json_schema':
      return schema;
    case 'openai':
      return { type: 'json_schema', json_schema: { name: schemaName, strict: true, schema } };
    case 'anthropic':
      return { name: schemaName, description: 'Chooses one of the candidates.', input_schema: schema };
    default:
      // Only from JavaScript: the type is closed.
      throw new ContextdError('ARGS_INVALID', `${JSON.stringify(provider)} is not a provider`, {
        remedy: `Pass ${SELECTION_PROVIDERS.join(', ')}.`,
      });
  }
}

/** What became of a model's choice. `raw` is what it said; `id` is always one of the candidates. */
export type Selection =
  | { readonly status: 'accepted'; readonly id: string; readonly raw: string }
  | { readonly status: 'repaired'; readonly id: string; readonly raw: string; readonly repair: SelectionRepair }
  | { readonly status: 'rejected'; readonly raw: string; readonly reason: SelectionFault };

export type SelectionRepair = 'strip' | 'case_fold' | 'prefix';
export type SelectionFault = 'empty_selection' | 'not_a_candidate' | 'ambiguous_case_fold' | 'ambiguous_prefix';

/** Tried in this order on what no candidate is equal to. */
const REPAIRS = [
  { repair: 'case_fold', ambiguous: 'ambiguous_case_fold', matches: (id: string, text: string) => id === text },
  { repair: 'prefix', ambiguous: 'ambiguous_prefix', matches: (id: string, text: string) => id.startsWith(text) },
] as const;

/**
 * Checks a model's choice against what it was offered (gateway surface §2.6). After blanks at both ends are removed, tries an
 * equal id, then the only one that is equal in another case, then the only one that begins so in any case. If several fit, the
 * choice is rejected, never guessed. `canRepair`: false accepts an equal id only. Default true.
 */
export function validateSelection(
  raw: string,
  candidateIds: readonly string[],
  { canRepair = true }: { canRepair?: boolean } = {},
): Selection {
  const candidates = [...new Set(candidateIds)];
  const text = raw.trim();
  if (text === '') return { status: 'rejected', raw, reason: 'empty_selection' };
  if (candidates.includes(raw)) return { status: 'accepted', id: raw, raw };
  if (!canRepair) return { status: 'rejected', raw, reason: 'not_a_candidate' };
  if (candidates.includes(text)) return { status: 'repaired', id: text, raw, repair: 'strip' };
  const lower = text.toLowerCase();
  for (const { repair, ambiguous, matches } of REPAIRS) {
    const [id, ...others] = candidates.filter((candidate) => matches(candidate.toLowerCase(), lower));
    if (id === undefined) continue;
    return others.length === 0
      ? { status: 'repaired', id, raw, repair }
      : { status: 'rejected', raw, reason: ambiguous };
  }
  return { status: 'rejected', raw, reason: 'not_a_candidate' };
}
