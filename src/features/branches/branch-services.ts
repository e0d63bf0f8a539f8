import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { toText } from '../../fs/raw-path.ts';
import type { ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import { invalid, readOptionalInteger, readString } from '../../sdk/input.ts';
import type { ArtifactStore } from '../../stores/artifacts.ts';
import { BRANCH_LIMITS, returnCall } from './branch.ts';
import type { BranchCall } from './branch-store.ts';
import type { Branches } from './branches.ts';
import type { Merged } from './files/branch-files.ts';

export interface BranchServiceDeps {
  branches: Pick<Branches, 'of' | 'open' | 'callsOf' | 'close'>;
  artifacts: Pick<ArtifactStore, 'ofCall'>;
  /** Queues the extraction of memories from calls. Throws RATE_LIMITED. */
  learn(work: { project: string; requestIds: readonly string[]; task: string; outcome: null }): Promise<unknown>;
  countTokens(text: string): number;
}

/** Maximum number of output refs in a report: the latest ones. */
const REFS_MAX = 8;

/**
 * `BranchOpen`: `{description, prompt, budget_tokens?, timeout_ms?, files?}` → `{branch_id, brief, budget_tokens,
 * timeout_ms, files?, notice?}`. The brief is everything that the branch knows of its parent. Throws ARGS_INVALID,
 * RESOURCE_LIMIT and, for files of its own, SANDBOX_UNAVAILABLE.
 */
export async function openBranch(
  session: SessionRef,
  request: JsonObject,
  { requestId }: Pick<ServiceCall, 'requestId'>,
  { branches, countTokens }: BranchServiceDeps,
): Promise<ServiceAnswer> {
  const description = readString(request, 'description').trim().replace(/\s+/g, ' ');
  const prompt = readString(request, 'prompt').trim();
  if (description === '' || description.length > BRANCH_LIMITS.descriptionChars) {
    throw invalid(
      'description',
      `must have 1 to ${BRANCH_LIMITS.descriptionChars} characters, not ${description.length}`,
    );
  }
  checkTokens('prompt', prompt, BRANCH_LIMITS.promptTokens, countTokens);
  const asked = {
    description,
    prompt,
    budgetTokens: amountOf(request, 'budget_tokens', BRANCH_LIMITS.budgetTokens),
    timeoutMs: amountOf(request, 'timeout_ms', BRANCH_LIMITS.timeoutMs),
    files: choiceOf(request, ['shared', 'own']),
  };
  const branch = await branches.open(session, asked, requestId);
  const { id, brief, budgetTokens, timeoutMs, files, notice } = branch;
  return {
    answer: {
      branch_id: id,
      brief,
      budget_tokens: budgetTokens,
      timeout_ms: timeoutMs,
      ...(files === 'own' ? { files } : {}),
      ...(notice === null ? {} : { notice }),
    },
  };
}

/**
 * `BranchReturn`: `{message, extract_memory?, files?}` → `{branch_id, message, tokens, calls, duration_ms, refs?,
 * children?, memory?, files?}`. Closes the branch of the call. Throws ARGS_INVALID, and CONFLICT for a call outside any
 * branch and for files that cannot be merged.
 */
export async function returnFromBranch(
  session: SessionRef,
  request: JsonObject,
  { requestId, tool }: Pick<ServiceCall, 'requestId' | 'tool'>,
  deps: BranchServiceDeps,
): Promise<ServiceAnswer> {
  const message = readString(request, 'message').trim();
  if (session.branch === null) throw inNoBranch(deps.branches.of(session).map(({ id }) => id));
  checkTokens('message', message, BRANCH_LIMITS.messageTokens, deps.countTokens);
  const files = choiceOf(request, ['merge', 'discard']);
  const { branch, calls } = await deps.branches.callsOf(session);
  const refs = await refsOf(session, calls, deps);
  const ids = calls.map((call) => call.requestId);
  const { children, durationMs, merged } = await deps.branches.close(session, { message, requestId, tool, files });
  const memory = request.extract_memory === true ? await learned(session, ids, branch.description, deps) : null;
  return {
    answer: {
      branch_id: branch.id,
      message,
      tokens: branch.spentTokens,
      calls: calls.length,
      duration_ms: durationMs,
      ...(refs.length === 0 ? {} : { refs }),
      ...(children.length === 0 ? {} : { children: [...children] }),
      ...(memory === null ? {} : { memory }),
      ...(branch.files === 'own' ? { files: filesOf(merged) } : {}),
    },
  };
}

/** Maximum number of skipped files and of commits in an answer. */
const NAMED_MAX = 10;

/** The changed files themselves are reported like those of every call. */
function filesOf(merged: Merged | null): JsonObject {
  if (merged === null) return { state: 'discarded' };
  const { skipped, commits, quarantined } = merged;
  return {
    state: 'merged',
    ...named(
      'not_merged',
      skipped.map(({ path, why }) => `${toText(path)}: ${why}`),
    ),
    ...named(
      'commits_not_merged',
      commits.map(({ id, subject }) => `${id} ${subject}`),
    ),
    ...named('set_aside', reasons(quarantined.filter(({ stays }) => stays !== true))),
    ...named('reported', reasons(quarantined.filter(({ stays }) => stays === true))),
  };
}

function reasons(found: Merged['quarantined']): string[] {
  return found.map(({ path, reason }) => `${path}: ${reason}`);
}

function named(name: string, all: readonly string[]): JsonObject {
  if (all.length === 0) return {};
  const more = all.length > NAMED_MAX ? [`and ${all.length - NAMED_MAX} more`] : [];
  return { [name]: [...all.slice(0, NAMED_MAX), ...more] };
}

/** The first choice is the default. */
function choiceOf<const T extends string>(request: JsonObject, choices: readonly [T, ...T[]]): T {
  const { files } = request;
  if (files === undefined) return choices[0];
  const choice = choices.find((one) => one === files);
  if (choice !== undefined) return choice;
  throw invalid('files', `must be ${choices.map((one) => `"${one}"`).join(' or ')}`);
}

/** Refs of the stored outputs of the last calls. */
async function refsOf(
  session: SessionRef,
  calls: readonly BranchCall[],
  { artifacts }: BranchServiceDeps,
): Promise<string[]> {
  const refs: string[] = [];
  for (const { requestId } of calls.toReversed()) {
    const ref = await artifacts.ofCall(session, requestId);
    if (ref !== null) refs.unshift(ref);
    if (refs.length === REFS_MAX) break;
  }
  return refs;
}

/** The branch returns even if learning fails. */
async function learned(session: SessionRef, ids: readonly string[], task: string, deps: BranchServiceDeps) {
  if (ids.length === 0) return 'no calls to learn from';
  try {
    await deps.learn({ project: session.project, requestIds: ids, task, outcome: null });
    return 'queued';
  } catch (thrown) {
    return `not extracted: ${ContextdError.from(thrown).message}`;
  }
}

function checkTokens(name: string, text: string, max: number, countTokens: (text: string) => number): void {
  if (text === '') throw invalid(name, 'is empty');
  const tokens = countTokens(text);
  if (tokens > max)
    throw invalid(name, `has ${tokens} tokens, the limit is ${max}`, 'Write less, and name refs instead.');
}

function amountOf(
  request: JsonObject,
  name: string,
  { standard, min, max }: { standard: number; min: number; max: number },
): number {
  const value = readOptionalInteger(request, name) ?? standard;
  if (value < min || value > max) throw invalid(name, `must be a whole number from ${min} to ${max}, not ${value}`);
  return value;
}

function inNoBranch(open: readonly string[]): ContextdError {
  const [first] = open;
  return new ContextdError('CONFLICT', 'the call is in no branch, so there is nothing to return from', {
    remedy:
      first === undefined
        ? 'No branch of this session is open.'
        : `Name the branch: ${returnCall(first)}. Open are ${open.join(', ')}.`,
  });
}
