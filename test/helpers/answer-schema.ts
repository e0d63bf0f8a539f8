import { ENVELOPE_VERSION, FIDELITY_VERSION, WARNING_SEVERITIES } from '#src/core/envelope.js';
import { ERROR_TABLE } from '#src/core/errors.js';

const PORT = { type: 'integer', minimum: 1, maximum: 65_535 } as const;
const TEXT = { type: 'string' } as const;
const TEXTS = { type: 'array', items: TEXT } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;
const MILLISECONDS = { type: 'number', minimum: 0 } as const;
const FLAG = { type: 'boolean' } as const;
const ARTIFACT_ID = '^art_[0-9a-hjkmnp-tv-z]{16}';

/**
 * The schema of every answer of every tool, at every door. Published as docs/envelope.schema.json; a test compares the
 * two. `data` is open because it belongs to the tool. Everything else is closed, so that every field is documented.
 */
export const ENVELOPE_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'contextd answer (response-v2)',
  type: 'object',
  additionalProperties: false,
  required: ['success', 'data', 'error', 'refs', 'tokens_used', 'has_more', 'truncated', 'meta'],
  properties: {
    success: FLAG,
    data: { type: 'object', description: 'What the tool returns; on failure also the fields of an error.' },
    error: { type: ['string', 'null'], description: 'A sentence: what failed, the value, the fix. Null on success.' },
    refs: {
      type: 'array',
      items: {
        type: 'string',
        pattern: '^(art_[0-9a-hjkmnp-tv-z]{16}|mem_[0-9a-hjkmnp-tv-z]{10}|undo_[0-9a-hjkmnp-tv-z]{8})$',
      },
      description:
        "Stored outputs (art_), for tool_view, found memories (mem_), for memory_get, and what undoes the call's changes of files (undo_), for ctxd undo.",
    },
    tokens_used: { ...COUNT, description: 'cl100k_base tokens of exactly this line, without its line end.' },
    has_more: { ...FLAG, description: 'meta.pagination.cursor leads to more output.' },
    truncated: { ...FLAG, description: 'Output was left out to keep the budget.' },
    meta: {
      type: 'object',
      additionalProperties: false,
      required: ['version', 'request_id'],
      properties: {
        version: { const: ENVELOPE_VERSION },
        request_id: { type: 'string', pattern: '^req_[0-9A-HJKMNP-TV-Z]{26}$' },
        pagination: closed(
          {
            cursor: { type: 'string', minLength: 1 },
            total_count: { ...COUNT, description: 'Items of the array in which data is cut.' },
          },
          ['total_count'],
        ),
        continues_from: {
          type: 'string',
          pattern: '^\\$[.[]',
          description: 'On a page of data: the JSON path of the first value that it shows.',
        },
        content_fidelity: { enum: ['full', 'partial', 'summary', 'reference_only'] },
        content_fidelity_schema_version: { const: FIDELITY_VERSION },
        dropped_content_ids: {
          type: 'array',
          items: { type: 'string', pattern: `${ARTIFACT_ID}/[a-z][a-z0-9_]{0,31}$` },
          minItems: 1,
        },
        content_archive_hashes: {
          type: 'object',
          minProperties: 1,
          additionalProperties: false,
          patternProperties: { [`${ARTIFACT_ID}$`]: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' } },
        },
        dropped_bytes: { type: 'integer', minimum: 1 },
        dropped_lines: {
          type: 'object',
          additionalProperties: { type: 'string', pattern: '^[1-9][0-9]*(-[1-9][0-9]*)?$' },
          minProperties: 1,
        },
        densified: {
          type: 'array',
          items: { enum: ['ansi', 'progress', 'repeats', 'json', 'trailing_spaces'] },
          minItems: 1,
          uniqueItems: true,
        },
        view: { type: 'object', required: ['name'], properties: { name: TEXT } },
        isolation: closed({ level: { const: 'reduced' }, missing: TEXTS }),
        denied: {
          type: 'array',
          minItems: 1,
          items: closed({ kind: TEXT, path: TEXT, host: TEXT, port: PORT, rule: TEXT, how_to_allow: TEXT }, [
            'path',
            'host',
            'port',
          ]),
        },
        files_changed: {
          ...TEXTS,
          minItems: 1,
          maxItems: 20,
          description: 'What the call did to files of the project: `A path`, `M path` or `D path`.',
        },
        files_changed_more: { type: 'integer', minimum: 1, description: 'How many more files it changed.' },
        files_not_covered: {
          ...TEXTS,
          minItems: 1,
          maxItems: 5,
          description: 'What changed and cannot be undone, as `path: why`.',
        },
        warnings: { ...TEXTS, minItems: 1 },
        warning_details: {
          type: 'array',
          minItems: 1,
          items: closed(
            {
              code: { enum: Object.keys(WARNING_SEVERITIES) },
              severity: { enum: ['info', 'warning', 'error'] },
              message: TEXT,
              context: { type: 'object' },
            },
            ['context'],
          ),
        },
        provenance: {
          ...closed({ arg_repairs: { ...TEXTS, minItems: 1 }, cache_hit: { const: true }, attempts: COUNT }, [
            'arg_repairs',
            'cache_hit',
            'attempts',
          ]),
          description: 'How the output came about: repaired arguments, an output that was kept, further attempts.',
        },
        rate_limit: closed({ limit: COUNT, remaining: COUNT, retry_after_ms: MILLISECONDS }),
        telemetry: closed({ duration_ms: MILLISECONDS, run_ms: MILLISECONDS, scrub_ms: MILLISECONDS }, [
          'run_ms',
          'scrub_ms',
        ]),
      },
    },
  },
  allOf: [
    {
      if: { properties: { success: { const: true } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { error: { type: 'null' } } },
      else: {
        properties: {
          error: { type: 'string', minLength: 1 },
          data: {
            required: ['error_code', 'error_type', 'retryable'],
            properties: {
              error_code: { enum: Object.keys(ERROR_TABLE) },
              error_type: { enum: [...new Set(Object.values(ERROR_TABLE).map(({ type }) => type))] },
              retryable: FLAG,
              remediation: { type: ['string', 'null'] },
              details: { type: ['object', 'null'] },
              retry_after_ms: MILLISECONDS,
            },
          },
        },
      },
    },
    {
      if: { properties: { has_more: { const: true } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { truncated: { const: true }, meta: { required: ['pagination', 'content_fidelity'] } } },
      else: { properties: { meta: { not: { required: ['pagination'] } } } },
    },
  ],
} as const;

/** An object with exactly these properties. All are required except `optional`. */
function closed<P extends object>(properties: P, optional: readonly (keyof P)[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.some((known) => known === name));
  return { type: 'object', additionalProperties: false, required, properties } as const;
}
