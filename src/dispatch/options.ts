import type { Principal } from '../call/request.ts';
import type { CatalogTool } from '../catalog/catalog.ts';
import { USUAL_LIMITS } from '../catalog/grants.ts';
import type { ToolManifest } from '../catalog/manifest.ts';
import type { Config } from '../config/schema.ts';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { BUDGET_DEFAULT_TOKENS, BUDGET_MIN_TOKENS, TIMEOUT_MAX_MS } from '../core/limits.ts';
import type { ToolLimits } from '../core/profile.ts';
import { readView } from '../tokens/views/read-view.ts';
import type { Call, CommonOptions } from './call.ts';

export interface OptionLimits {
  budget: BudgetLimits;
  timeout: TimeoutLimits;
  /** Common options that the tool does not define itself. */
  names: readonly string[];
}

/** The requested budget, even if the rest of the input is invalid. Default: `standard`, also for an invalid budget. */
export function askedBudget(input: unknown, { standard, ceiling }: BudgetLimits): number {
  const asked = isJsonObject(input) ? input.max_tokens : undefined;
  const isGood = typeof asked === 'number' && Number.isInteger(asked) && asked >= BUDGET_MIN_TOKENS && asked <= ceiling;
  return isGood ? asked : standard;
}

/** Splits an input into the common options and the tool's own arguments. Throws ARGS_INVALID with pointer and range. */
export function takeCommonOptions(
  input: JsonObject,
  limits: OptionLimits,
): { options: CommonOptions; rest: JsonObject } {
  const { budget, timeout, names } = limits;
  const pick = (isOption: boolean): JsonObject =>
    Object.fromEntries(Object.entries(input).filter(([name]) => names.includes(name) === isOption));
  const [taken, rest] = [pick(true), pick(false)];
  const asked = wholeNumber('max_tokens', taken.max_tokens, BUDGET_MIN_TOKENS, budget.ceiling);
  const options: CommonOptions = {
    maxTokens: asked ?? budget.standard,
    cutTokens: asked ?? Math.min(budget.cut, budget.standard),
    view: readView(taken.view),
    isViewAsked: taken.view !== undefined,
    viewJson: taken.view ?? null,
    continuation: continuationOf(taken.continuation),
    timeoutMs: wholeNumber('timeout_ms', taken.timeout_ms, 1, timeout.ceilingMs) ?? timeout.standardMs,
    dryRun: flagOf('dry_run', taken.dry_run),
    branch: branchOf(taken.branch),
  };
  if (options.continuation !== null && Object.keys(rest).length > 0) {
    throw invalid(
      'continuation',
      `goes alone or with max_tokens and view, not with ${Object.keys(rest).join(', ')}`,
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

/** A cursor, or the number that stands for one in a text answer. */
function continuationOf(value: Json | undefined): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return String(value);
  throw invalid(
    'continuation',
    'must be a number or a non-empty string',
    'Pass the number or meta.pagination.cursor of the answer to go on from',
  );
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

function branchOf(value: Json | undefined): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string' && value !== '') return value;
  throw invalid('branch', 'must be the branch_id that `branch` answered', 'Leave it out for the base of the session');
}

/** The settings that limit calls. */
export type CallLimits = Pick<Config, 'budget' | 'timeout'>;

/** The limits of a call of the tool. */
export function limitsFor(
  { request }: Pick<Call, 'request'>,
  { manifest, program }: Pick<CatalogTool, 'manifest' | 'program'>,
  { budget, timeout }: CallLimits,
): Omit<OptionLimits, 'names'> {
  return {
    budget: budgetLimits(budget, manifest, request.principal.door),
    timeout:
      // The client ends a command that takes it too long.
      request.principal.door === 'shell'
        ? { standardMs: TIMEOUT_MAX_MS, ceilingMs: TIMEOUT_MAX_MS }
        : timeoutLimits(timeout, manifest, program.profile.limits),
  };
}

/** Limits of the printed line, in tokens. */
interface BudgetLimits {
  /** For a call that asks for no budget. */
  standard: number;
  /** For such a call if its output must be cut. */
  cut: number;
  /** The maximum that a call may ask for. */
  ceiling: number;
}

/** Milliseconds that a call may take. */
interface TimeoutLimits {
  /** For a call that asks for no timeout. */
  standardMs: number;
  /** The maximum that a call may ask for. */
  ceilingMs: number;
}

/** What a person sets for the tool, otherwise the larger of what is set for all tools and what was granted to this one. */
export function timeoutLimits(
  timeout: Config['timeout'],
  { name }: Pick<ToolManifest, 'name'>,
  { timeoutMs = 0, defaultTimeoutMs = 0 }: ToolLimits,
): TimeoutLimits {
  const own = Object.hasOwn(timeout.tools, name) ? timeout.tools[name] : undefined;
  const granted = timeoutMs > USUAL_LIMITS.timeout_ms ? timeoutMs : 0;
  const ceilingMs = own?.max_ms ?? Math.max(timeout.max_ms, granted);
  return {
    standardMs: Math.min(own?.default_ms ?? Math.max(timeout.default_ms, defaultTimeoutMs), ceilingMs),
    ceilingMs,
  };
}

/** Limits for a tool at a door. The tool's own defaults override those of its kind; the lowest ceiling applies. */
export function budgetLimits(
  budget: Config['budget'],
  { name, budget: kind }: Pick<ToolManifest, 'name' | 'budget'>,
  door: Principal['door'],
): BudgetLimits {
  const own = Object.hasOwn(budget.tools, name) ? budget.tools[name] : undefined;
  const ofDoor = door === 'proxy' ? undefined : budget.doors[door];
  const ceilings = [budget.max_tokens, own?.max_tokens, ofDoor?.max_tokens];
  const ceiling = Math.min(...ceilings.filter((tokens) => tokens !== undefined));
  const isShell = door === 'shell';
  const usual = kind === 'answer' ? budget.default_tokens : BUDGET_DEFAULT_TOKENS[kind];
  const under = isShell ? budget.shell_whole_tokens : (own?.default_tokens ?? usual);
  // The requirements say "under" the default, not "at most".
  const standard = Math.max(BUDGET_MIN_TOKENS, Math.min(under - 1, ceiling));
  return { standard, cut: isShell ? Math.min(standard, budget.shell_cut_tokens) : standard, ceiling };
}
