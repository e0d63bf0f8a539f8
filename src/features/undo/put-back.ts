import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import { type RawPath, toRaw, toText } from '../../fs/raw-path.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import type { RestoreItem } from '../../sandbox/contract/snapshot-messages.ts';
import type { CallChanges } from './call-changes.ts';
import { nameOfChange, type UndoFile } from './undo-plan.ts';
import type { UndoRecord, UndoRecords } from './undo-records.ts';

export interface PutBackDeps {
  sandbox: Pick<Sandbox, 'restore'>;
  changes: Pick<CallChanges, 'before' | 'after' | 'whyNot'>;
  records: Pick<UndoRecords, 'find'>;
  /** Policy of the sandbox that restores files of a project. */
  policyFor(root: string): SandboxPolicy;
  clock: Clock;
}

export interface PutBack {
  readonly files: readonly UndoFile[];
  /** The restore itself as a record, which can be undone; null if no file changed. */
  readonly undone: UndoRecord | null;
}

export interface PutBackBy {
  /** Of what is restored, for messages. */
  readonly name: string;
  readonly tool: string;
  readonly session: string;
  /** Whether the other files are put back if some have changed since. */
  readonly isPartial: boolean;
  readonly requestId?: string;
}

/** Path → reason for files that were not restored; `conflicts` are files changed since. */
interface Refused {
  readonly failed: ReadonlyMap<RawPath, string>;
  readonly conflicts: readonly RawPath[];
}

/** Restores files and records it. Files that could not be restored are `keep` in the result. */
export async function putBack(
  project: string,
  plan: readonly UndoFile[],
  { name, tool, session, isPartial, requestId }: PutBackBy,
  deps: PutBackDeps,
): Promise<PutBack> {
  const kept = plan.filter(({ action }) => action === 'keep').map(({ change }) => nameOfChange(change));
  if (kept.length > 0 && !isPartial) throw conflict(name, kept);
  const items = plan.flatMap(({ action, item }) => (action === 'keep' || action === 'done' ? [] : [item]));
  if (items.length === 0) return { files: plan, undone: null };
  const call = { requestId: requestId ?? newRequestId(deps.clock.now()), tool, session };
  const { changes, records } = deps;
  const watched = await changes.before(project, call, '');
  if (watched === null) throw changes.whyNot(project) ?? new Error('files are not kept');
  let refused: Refused;
  try {
    refused = await restore(project, items, isPartial, deps);
  } finally {
    await changes.after(project, watched);
  }
  const { failed, conflicts } = refused;
  if (conflicts.length > 0 && !isPartial) throw conflict(name, conflicts.map(toText));
  return {
    files: plan.map((file) => {
      const why = failed.get(file.path);
      return why === undefined ? file : { ...file, action: 'keep', why };
    }),
    undone: await records.find(project, call.requestId).catch(() => null),
  };
}

/** With `isPartial`, a file that changes meanwhile is skipped; otherwise nothing is written then. */
async function restore(
  project: string,
  items: readonly RestoreItem[],
  isPartial: boolean,
  { sandbox, policyFor }: PutBackDeps,
): Promise<Refused> {
  const failed = new Map<RawPath, string>();
  const conflicts = new Set<RawPath>();
  let left = items;
  for (;;) {
    const result = await sandbox.restore(policyFor(project), left);
    for (const { path, why } of [...result.conflicts, ...result.failed]) failed.set(path, why);
    const moved = result.quarantined.filter(({ stays }) => stays !== true);
    for (const { path, reason, removed } of moved) {
      failed.set(toRaw(path), `it was ${removed === true ? 'removed' : 'set aside'}: ${reason}`);
    }
    for (const { path } of result.conflicts) conflicts.add(path);
    const next = left.filter(({ path }) => !conflicts.has(path));
    if (!isPartial || result.conflicts.length === 0 || next.length === 0 || next.length === left.length)
      return { failed, conflicts: [...conflicts] };
    left = next;
  }
}

function conflict(name: string, paths: readonly string[]): ContextdError {
  const named = paths.slice(0, 5).join(', ');
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : '';
  return new ContextdError('CONFLICT', `${name} is not restored: changed since: ${named}${more}`, {
    remedy: 'Nothing was written. --partial puts the other files back.',
    details: { paths: paths.slice(0, 100) },
  });
}
