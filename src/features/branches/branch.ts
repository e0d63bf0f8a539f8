import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';

/** A branch of a session: work with its own budget that reports one message to its parent. */
export interface Branch {
  readonly id: string;
  readonly project: string;
  readonly session: string;
  /** The branch in which it was opened; null: the base of the session. */
  readonly parent: string | null;
  readonly description: string;
  /** All that the branch knows of its parent. */
  readonly brief: string;
  /** Maximum total of tokens in the answers to its calls. */
  readonly budgetTokens: number;
  /** Milliseconds from its opening until it must return. */
  readonly timeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly openedMs: number;
  readonly files: BranchFilesKind;
}

/** `merging`: a part may already be written. Files in state `open` or `merging` are kept. */
export type FilesState = 'open' | 'merging' | 'merged' | 'discarded';

/** `own`: its files are separate until it returns. `shared`: it works on its parent's files. */
export type BranchFilesKind = 'own' | 'shared';

/** Cause of a branch's end: its `return`, the end of its parent or session, or its timeout. */
export type Closing = 'return' | 'parent' | 'session' | 'timeout';

/** An open branch, with the cost of its calls so far. */
export interface OpenBranch extends Branch {
  spentTokens: number;
  /** Null if it has no files of its own. */
  filesState: FilesState | null;
}

/** How to end the files of a branch. */
export type FilesEnd = 'merge' | 'discard';

/** A branch to open. Its texts are masked. */
export interface NewBranch {
  readonly description: string;
  readonly prompt: string;
  readonly budgetTokens: number;
  readonly timeoutMs: number;
  readonly files: BranchFilesKind;
}

/** The `return` of a branch: its masked message, and the call. */
export interface Report {
  readonly message: string;
  readonly requestId: string;
  readonly tool: string;
  /** What to do with the branch's own files. */
  readonly files: FilesEnd;
}

export const BRANCH_LIMITS = {
  /** Maximum nesting, counted from the base. */
  depth: 3,
  openPerSession: 10,
  descriptionChars: 200,
  promptTokens: 1_000,
  messageTokens: 1_000,
  budgetTokens: { standard: 16_000, min: 1_000, max: 200_000 },
  timeoutMs: { standard: 30 * 60_000, min: 1_000, max: 24 * 3_600_000 },
} as const;

/** Share of a budget above which answers carry a warning. */
const WARN_SHARE = 0.8;

/** The text given to the branch. Nothing else of its parent reaches it. */
export function briefOf(branch: Omit<Branch, 'brief'>, prompt: string): string {
  const { id, description, budgetTokens, timeoutMs, files } = branch;
  const ownFiles = 'It works on files of its own, and returning merges what it changed into those of your parent.';
  return [
    `Branch ${id}: ${description}`,
    '',
    prompt,
    '',
    `Give every call "branch":"${id}" (or set CONTEXTD_BRANCH=${id}). Its answers may cost ${budgetTokens} tokens in all, within ${inWords(timeoutMs)}.`,
    `End with ${returnCall(id)}: your parent gets that message, at most ${BRANCH_LIMITS.messageTokens} tokens, and nothing else.${files === 'own' ? ` ${ownFiles}` : ''}`,
  ].join('\n');
}

export function returnCall(id: string): string {
  return `safe_return '{"branch":"${id}","message":"…"}'`;
}

/** The exhausted part of a branch's budget, or null. */
export function exhausted(branch: OpenBranch, nowMs: number): string | null {
  if (branch.spentTokens >= branch.budgetTokens) return `its ${branch.budgetTokens} tokens`;
  return msLeft(branch, nowMs) <= 0 ? `its ${inWords(branch.timeoutMs)}` : null;
}

/** The warning for an answer that costs `tokens`; null below 80 %. */
export function warningOf(branch: OpenBranch, tokens: number, nowMs: number): string | null {
  const spent = branch.spentTokens + tokens;
  const passedMs = branch.timeoutMs - msLeft(branch, nowMs);
  const used = [
    ...(spent >= branch.budgetTokens * WARN_SHARE ? [`${spent} of its ${branch.budgetTokens} tokens`] : []),
    ...(passedMs >= branch.timeoutMs * WARN_SHARE ? [`${inWords(passedMs)} of its ${inWords(branch.timeoutMs)}`] : []),
  ];
  if (used.length === 0) return null;
  return `branch ${branch.id} has used ${used.join(' and ')}: finish now and call ${returnCall(branch.id)}`;
}

export function msLeft({ openedMs, timeoutMs }: Branch, nowMs: number): number {
  return openedMs + timeoutMs - nowMs;
}

export function sessionOf({ project, session, id }: Branch): SessionRef {
  return { project, session, branch: id };
}

export function inWords(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}

/** Refuses another branch at this nesting depth, beside the open branches of the session. Throws RESOURCE_LIMIT. */
export function checkRoom(depth: number, open: readonly OpenBranch[]): void {
  if (depth >= BRANCH_LIMITS.depth) {
    throw new ContextdError('RESOURCE_LIMIT', `branches nest ${BRANCH_LIMITS.depth} deep, and this one is the last`, {
      remedy: 'Do the work in this branch.',
      details: { limit: BRANCH_LIMITS.depth },
    });
  }
  if (open.length < BRANCH_LIMITS.openPerSession) return;
  const ids = open.map(({ id }) => id);
  throw new ContextdError('RESOURCE_LIMIT', `${open.length} branches of this session are open: ${ids.join(', ')}`, {
    remedy: `Return from one first: ${returnCall(ids[0] ?? '')}.`,
    details: { limit: BRANCH_LIMITS.openPerSession },
  });
}

/** The refusal of work in a branch whose files are ended. */
export function settled({ id, filesState }: OpenBranch): ContextdError {
  const why = filesState === 'merging' ? 'are being merged' : `were ${filesState}`;
  return new ContextdError('CONFLICT', `the files of branch ${id} ${why}, and it does no more work`, {
    remedy: `Call ${returnCall(id)}.`,
  });
}

/** In words, by `Closing`; '' while it is being closed. */
export const HOW_CLOSED: Readonly<Record<string, string>> = {
  '': 'it is being closed',
  return: 'it has returned',
  parent: 'it ended with its parent',
  session: 'it ended with its session',
  timeout: 'it did not return in time',
};
