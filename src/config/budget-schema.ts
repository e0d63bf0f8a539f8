import { BUDGET_DEFAULT_TOKENS, BUDGET_MIN_TOKENS, BUDGET_SHELL_TOKENS } from '../core/limits.ts';
import { flag, section, whole } from './schema-parts.ts';

const BUDGET_CEILING_TOKENS = 1_000_000;
const OWN_TOKENS = { type: 'integer', minimum: BUDGET_MIN_TOKENS, maximum: BUDGET_CEILING_TOKENS } as const;
const DOOR_CEILING = {
  type: 'object',
  additionalProperties: false,
  required: ['max_tokens'],
  properties: { max_tokens: OWN_TOKENS },
} as const;

export const BUDGET_SCHEMA = section('How much of an output an answer shows.', {
  default_tokens: tokens(
    BUDGET_DEFAULT_TOKENS.answer,
    'The maximum tokens of an answer if the call does not ask for a budget.',
  ),
  max_tokens: tokens(20_000, 'The maximum tokens that a call may ask for.'),
  tools: {
    type: 'object',
    default: {},
    description: 'Budgets for individual tools, by name. Never above max_tokens.',
    additionalProperties: false,
    patternProperties: {
      '^[a-z][a-z0-9_]{0,63}$': {
        type: 'object',
        additionalProperties: false,
        properties: { default_tokens: OWN_TOKENS, max_tokens: OWN_TOKENS },
      },
    },
  },
  doors: {
    type: 'object',
    default: {},
    description:
      'The maximum tokens of an answer by entry point: grpc serves the tools in .claude and ctxd, http the HTTP API, mcp the clients of the Model Context Protocol, shell a client whose shell is contextd-sh.',
    additionalProperties: false,
    properties: { grpc: DOOR_CEILING, http: DOOR_CEILING, mcp: DOOR_CEILING, shell: DOOR_CEILING },
  },
  shell_whole_tokens: tokens(
    BUDGET_SHELL_TOKENS.whole,
    'The maximum tokens of an output that a client whose shell is contextd-sh gets whole.',
  ),
  shell_cut_tokens: tokens(
    BUDGET_SHELL_TOKENS.cut,
    'The maximum tokens of a longer output, which is cut for that client.',
  ),
  telemetry: flag(false, 'Report the times of a call in meta.telemetry.'),
});

function tokens(standard: number, description: string) {
  return whole(standard, BUDGET_MIN_TOKENS, BUDGET_CEILING_TOKENS, description);
}
