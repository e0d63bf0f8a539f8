/** Limits of DigestPayload v1: items of a list, and characters (code points). */
const SUMMARY_MAX_CHARS = 2_000;
const ITEM_MAX_CHARS = 500;
const ITEMS_MAX = 10;

const count = (description: string) => ({ type: 'integer', minimum: 0, description });

/** DigestPayload v1.0 as JSON Schema draft 2020-12; published as docs/digest.schema.json. */
export const DIGEST_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'DigestPayload v1.0',
  description:
    'An extract of a text: made of its own lines, without a model, the same bytes for the same text, query and size. Characters are Unicode code points. Texts over 8388608 UTF-16 units are read in 64 evenly spread windows and at the first 2000 places where a term of the query stands.',
  type: 'object',
  additionalProperties: false,
  required: [
    'version',
    'content_type',
    'query_hash',
    'summary',
    'key_points',
    'evidence_snippets',
    'original_chars',
    'digest_chars',
    'compression_ratio',
    'source_text_hash',
  ],
  properties: {
    version: { const: '1.0', default: '1.0' },
    content_type: { const: 'digest/v1', default: 'digest/v1' },
    query_hash: {
      type: 'string',
      pattern: '^[a-f0-9]{8}$',
      description:
        'The first 8 hex digits of the SHA-256 of the query in UTF-8, after NFKC, lower case, and white space folded to one blank and taken off both ends.',
    },
    summary: {
      type: 'string',
      maxLength: SUMMARY_MAX_CHARS,
      description: 'The first line, the most central lines and the last line, in the order of the text, one per line.',
    },
    key_points: {
      type: 'array',
      maxItems: ITEMS_MAX,
      items: { type: 'string', maxLength: ITEM_MAX_CHARS },
      description: 'Strong lines spread over the text, in its order.',
    },
    evidence_snippets: {
      type: 'array',
      maxItems: ITEMS_MAX,
      items: { $ref: '#/$defs/evidence_snippet' },
      description: 'The lines that answer the query, best first; without a query the strongest lines.',
    },
    original_chars: count('Characters of the text.'),
    digest_chars: count('Characters of this payload as it was serialized.'),
    compression_ratio: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'digest_chars / original_chars, at most 1, with 6 decimals.',
    },
    source_text_hash: {
      type: 'string',
      pattern: '^sha256:[a-f0-9]{64}$',
      description: 'The SHA-256 of the text in UTF-8, as it is kept.',
    },
  },
  $defs: {
    evidence_snippet: {
      type: 'object',
      additionalProperties: false,
      required: ['text', 'locator', 'relevance_score'],
      properties: {
        text: { type: 'string', maxLength: ITEM_MAX_CHARS, description: 'An exact part of the text.' },
        locator: {
          type: 'string',
          pattern: '^(page:[1-9][0-9]*:)?char:(0|[1-9][0-9]*)-[1-9][0-9]*$',
          description:
            'Where it stands: the first character, from 0, and the one after the last; as in Python. In a text with form feeds, which separate pages, the page, from 1, and characters of that page.',
        },
        relevance_score: { type: 'number', minimum: 0, maximum: 1 },
      },
    },
  },
} as const;
