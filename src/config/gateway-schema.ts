import type { ErrorCode } from '../core/errors.ts';
import { DEFAULT_SURFACE, SURFACES } from '../core/surfaces.ts';
import { type Described, flag, names, section, whole } from './schema-parts.ts';

/** Failures of the way to a server. The call may still have had its effects there. */
const RETRIED_CODES = ['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'RATE_LIMITED'] as const satisfies ErrorCode[];
export type RetriedCode = (typeof RETRIED_CODES)[number];

/** A tool, or the id of a tool of a server; `*` stands for any characters. */
const TOOL_GLOB = '^[A-Za-z0-9_.:@#*-]{1,240}$';
const CALLS = { type: 'integer', minimum: 1, maximum: 1_000_000 } as const;
const MIB = 1024 * 1024;

/** Without the defaults that settings of a project must not have: what is missing there comes from the machine's. */
const PROJECT_ACCESS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    allow: globs(),
    deny: globs(),
    read_only: { type: 'boolean' },
  },
} as const;

export const GATEWAY_SCHEMA = section('How agents find and execute tools.', {
  surface: {
    enum: SURFACES,
    default: DEFAULT_SURFACE,
    description: 'What MCP clients see that name no surface.',
  },
  cache_stable: flag(
    false,
    'tool_browse lists the tools that a session has seen first and unchanged, for clients that cache prompts, instead of the best ones.',
  ),
  tolerant_args: flag(
    false,
    'tool_execute repairs arguments by fixed rules before it checks them: numbers, booleans and null given as text, and an object given as JSON text.',
  ),
  schemas: section('Schemas of the tools of MCP servers, which no person has checked.', {
    on_invalid: {
      enum: ['flag', 'reject'],
      default: 'flag',
      description:
        'flag: a tool whose schema is broken or too large is listed, and a call of it fails. reject: it is left out.',
    },
    max_bytes: whole(256 * 1024, 1_024, 16 * MIB, 'Bytes of one schema as JSON.'),
    max_depth: whole(32, 2, 200, 'Levels of nesting in one schema.'),
    max_properties: whole(2_000, 1, 100_000, 'Properties in one schema, at all levels together.'),
  }),
  rate_limits: {
    type: 'object',
    default: {},
    description:
      'The most calls of a session, by the name of a tool or the id of a tool of a server. A call through tool_execute counts for both. No limit without an entry.',
    additionalProperties: false,
    patternProperties: {
      '^[A-Za-z0-9_.:@#-]{1,240}$': {
        type: 'object',
        additionalProperties: false,
        properties: { per_minute: CALLS, per_session: CALLS },
      },
    },
  },
  retry: section('Further attempts at calls of MCP servers that failed on the way.', {
    max_attempts: whole(1, 1, 10, 'Attempts in all. 1: none is repeated. A repeated call may have its effects twice.'),
    base_delay_ms: whole(200, 0, 60_000, 'Milliseconds before the second attempt; doubled before each further one.'),
    max_delay_ms: whole(5_000, 0, 300_000, 'The most milliseconds between two attempts.'),
    jitter: flag(true, 'Wait between half of that time and all of it, so that callers do not return together.'),
    codes: {
      type: 'array',
      items: { enum: RETRIED_CODES },
      uniqueItems: true,
      default: ['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE'],
      description: 'The failures that are tried again. What a tool itself reports never is.',
    },
  }),
  cache: section('Answers of MCP servers that are given again to an equal call.', {
    read_only: flag(
      false,
      'Keep answers of tools that declare to be read-only. The declaration is not verified: name the tools in allow too.',
    ),
    allow: names(TOOL_GLOB, [], 'The tools whose answers are kept, if not all that declare to be read-only.', 1_000),
    ttl_seconds: whole(300, 1, 86_400, 'Seconds for which an answer is kept.'),
    max_entries: whole(256, 1, 100_000, 'Answers that are kept. The least recently used are dropped first.'),
    max_bytes: whole(16 * MIB, 1_024, 1_024 * MIB, 'Bytes of all kept answers together.'),
  }),
  access: section('Which tools agents can use. A tool that they cannot use is not shown either.', {
    allow: names(TOOL_GLOB, ['*'], 'Tools that can be used, such as safe_* or github:*.', 1_000),
    deny: names(TOOL_GLOB, [], 'Tools that cannot be used, even if they are allowed.', 1_000),
    read_only: flag(
      false,
      'Only tools that write no project files. Tools of MCP servers are used only if allow names them without a *.',
    ),
    projects: {
      type: 'object',
      default: {},
      description: 'The same for single projects, by their roots. What a project does not set is as above.',
      additionalProperties: false,
      patternProperties: { '^/[^\\0]*$': PROJECT_ACCESS },
    },
  }),
});

/** What a person sets for finding and executing tools. */
export type GatewaySettings = Described<typeof GATEWAY_SCHEMA>;

/** Which tools of a project a caller may use, and so sees. */
export type AccessSettings = Omit<GatewaySettings['access'], 'projects'>;

function globs() {
  return { type: 'array', items: { type: 'string', pattern: TOOL_GLOB }, uniqueItems: true, maxItems: 1_000 } as const;
}
