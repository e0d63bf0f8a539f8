import type { Config } from '../config/schema.ts';
import { ContextdError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { BUDGET_MIN_TOKENS } from '../core/limits.ts';
import { VIEWS, type View } from '../tokens/budget.ts';
import type { CommonOptions } from './call.ts';

/** Names of design §4; the rest of an input is the tool's own. */
const NAMES = ['max_tokens', 'view', 'continuation', 'timeout_ms', 'dry_run', 'branch'] as const;

export type OptionLimits = Pick<Config, 'budget' | 'timeout'>;

/** Splits an input into the common options and the tool's own arguments; ARGS_INVALID names pointer and range. */
export function takeCommonOptions(
  input: JsonObject,
  limits: OptionLimits,
): { options: CommonOptions; rest: JsonObject } {
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !NAMES.some((known) => known === name)));
  if (input.branch !== undefined) throw branchNotBuilt();
  const { budget, timeout } = limits;
  const options: CommonOptions = {
    maxTokens:
      wholeNumber('max_tokens', input.max_tokens, BUDGET_MIN_TOKENS, budget.max_tokens) ??
      // CE-1.4 says under the default, not at it.
      Math.max(BUDGET_MIN_TOKENS, budget.default_tokens - 1),
    view: viewOf(input.view),
    continuation: textOf('continuation', input.continuation),
    timeoutMs: wholeNumber('timeout_ms', input.timeout_ms, 1, timeout.max_ms) ?? timeout.default_ms,
    dryRun: flagOf('dry_run', input.dry_run),
  };
  if (options.continuation !== null && Object.keys(rest).length > 0) {
    throw invalid(
      'continuation',
      `goes alone or with max_tokens, not with ${Object.keys(rest).join(', ')}`,
      'Leave the others out',
    );
  }
  return { options, rest };
}

function wholeNumber(name: string, value: Json | undefined, min: number, max: number): number | null {
  if (value === undefined) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(
    name,
    `must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`,
    `Pass a number in that range`,
  );
}

function viewOf(value: Json | undefined): View {
  if (value === undefined) return 'head_tail';
  const view = VIEWS.find((known) => known === value);
  if (view !== undefined) return view;
  throw invalid('view', `must be one of ${VIEWS.join(', ')}, not ${JSON.stringify(value)}`, 'Pass one of these names');
}

function textOf(name: string, value: Json | undefined): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string' && value !== '') return value;
  throw invalid(name, 'must be a non-empty string', 'Pass meta.pagination.cursor of the answer to go on from');
}

function flagOf(name: string, value: Json | undefined): boolean {
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(name, `must be true or false, not ${JSON.stringify(value)}`, 'Pass a boolean');
}

function invalid(name: string, fault: string, remedy: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `/${name} ${fault}`, {
    remedy,
    details: { faults: [{ pointer: `/${name}`, fault }] },
  });
}

function branchNotBuilt(): ContextdError {
  return new ContextdError('NOT_IMPLEMENTED', 'branches are not part of this version of contextd', {
    remedy: 'Leave "branch" out.',
  });
}
