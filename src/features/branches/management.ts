import type { Clock } from '../../core/clock.ts';
import { newRequestId } from '../../core/ids.ts';
import { toRaw, toText } from '../../fs/raw-path.ts';
import type {
  BranchFilesPlan__Output as BranchFilesPlan,
  BranchFilesRequest__Output as BranchFilesRequest,
  BranchInfo__Output as BranchInfo,
} from '../../protocol/generated/management.ts';
import type { Management } from '../../protocol/management-contract.ts';
import type { Refused } from '../../sandbox/contract/merge-messages.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { AuditLog } from '../../stores/audit.ts';
import type { ListedBranch } from './branch-store.ts';
import type { Branches } from './branches.ts';
import { describeOp, type ShownPlan } from './files/branch-files.ts';
import type { Resolutions } from './files/merge-plan.ts';

export interface BranchManagementDeps {
  branches: Pick<Branches, 'list' | 'planFiles' | 'endFiles'>;
  scrubber: Pick<Scrubber, 'maskText'>;
  auditLog: Pick<AuditLog, 'append'>;
  clock: Clock;
}

/** Bytes of a patch; of a longer one the rest is counted. */
const PATCH_MAX_BYTES = 1024 * 1024;

/** What a person may see of branches, and do with their files. Every end is recorded. */
export function createBranchManagement(
  deps: BranchManagementDeps,
): Pick<Management, 'listBranches' | 'planBranchFiles' | 'endBranchFiles'> {
  return {
    async listBranches({ root }) {
      return { branches: (await deps.branches.list(root)).map((branch) => infoOf(branch, deps)) };
    },
    async planBranchFiles(request) {
      const resolutions = resolutionsOf(request);
      const patchBytes = request.patch ? PATCH_MAX_BYTES : 0;
      const { patch, left, ...plan } = await deps.branches.planFiles(request.root, request.branch, {
        resolutions,
        patchBytes,
      });
      return { ...wireOf(request.branch, plan, deps), patch: deps.scrubber.maskText(patch), patch_left: left };
    },
    async endBranchFiles(request) {
      const requestId = newRequestId(deps.clock.now());
      const merged = await deps.branches.endFiles(request.root, request.branch, {
        end: request.discard ? 'discard' : 'merge',
        resolutions: resolutionsOf(request),
        call: { requestId, tool: 'merge' },
      });
      await record(request, requestId, merged?.changes ?? null, deps);
      const files = merged?.changes?.files ?? [];
      const more = merged?.changes?.more ?? 0;
      return {
        branch: request.branch,
        state: request.discard ? 'discarded' : 'merged',
        changes: [...files, ...(more > 0 ? [`and ${more} more`] : [])].map((line) => deps.scrubber.maskText(line)),
        conflicts: [],
        skipped: pathsOf(merged?.skipped ?? [], deps),
        commits: (merged?.commits ?? []).map(({ id, subject }) => deps.scrubber.maskText(`${id} ${subject}`)),
        patch: '',
        patch_left: 0,
        undone_by: merged?.changes?.ref ?? '',
      };
    },
  };
}

/** Null if the person chose nothing: a merge that has begun goes on with what was chosen then. */
function resolutionsOf({ keep_base, take_branch, merge_text }: BranchFilesRequest): Resolutions | null {
  if (keep_base.length + take_branch.length + merge_text.length === 0) return null;
  const rawOf = (paths: readonly string[]): string[] => paths.map((path) => toRaw(path.replace(/\/+$/, '')));
  return { keepBase: rawOf(keep_base), takeBranch: rawOf(take_branch), mergeText: rawOf(merge_text) };
}

function wireOf(branch: string, plan: ShownPlan, deps: BranchManagementDeps): BranchFilesPlan {
  const maskText = (text: string): string => deps.scrubber.maskText(text);
  return {
    branch,
    state: plan.state,
    changes: plan.ops.map((op) => maskText(describeOp(op))),
    conflicts: pathsOf(plan.conflicts, deps),
    skipped: pathsOf(plan.skipped, deps),
    commits: plan.commits.map(({ id, subject }) => maskText(`${id} ${subject}`)),
    patch: '',
    patch_left: 0,
    undone_by: '',
  };
}

function pathsOf(paths: readonly Refused[], { scrubber }: BranchManagementDeps): { path: string; why: string }[] {
  return paths.map(({ path, why }) => ({ path: scrubber.maskText(toText(path)), why: scrubber.maskText(why) }));
}

async function record(
  { root, branch, discard }: BranchFilesRequest,
  requestId: string,
  changes: { readonly ref: string | null; readonly files: readonly string[]; readonly more: number } | null,
  { auditLog, clock }: BranchManagementDeps,
): Promise<void> {
  await auditLog.append({
    time: new Date(clock.now()).toISOString(),
    request_id: requestId,
    session: '',
    project: root,
    door: 'ctxd',
    kind: 'person',
    tool: discard ? 'branch discard' : 'branch merge',
    input: { branch },
    ...(changes?.ref == null
      ? {}
      : { files_changed: { ref: changes.ref, count: changes.files.length + changes.more } }),
    output_sha256: '',
    output_bytes: 0,
    duration_ms: 0,
    secrets_found: 0,
    secret_rules: [],
    exit_code: null,
    error_code: null,
  });
}

function infoOf(branch: ListedBranch, { scrubber }: BranchManagementDeps): BranchInfo {
  const { id, session, parent, description, closedBy, spentTokens, budgetTokens, calls, openedMs, closedMs } = branch;
  return {
    id,
    session: scrubber.maskText(session),
    parent: parent ?? '',
    description,
    state: closedBy === '' ? 'open' : closedBy,
    tokens: spentTokens,
    budget_tokens: budgetTokens,
    calls,
    opened_ms: openedMs,
    closed_ms: closedMs ?? 0,
    timeout_ms: branch.timeoutMs,
    files: branch.filesState ?? '',
  };
}
