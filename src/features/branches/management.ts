import { toRaw, toText } from '../../fs/raw-path.ts';
import type {
  BranchFilesPlan__Output as BranchFilesPlan,
  BranchFilesRequest__Output as BranchFilesRequest,
  BranchInfo__Output as BranchInfo,
} from '../../protocol/generated/management.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import type { Refused } from '../../sandbox/contract/merge-messages.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { ListedBranch } from './branch-store.ts';
import type { Branches } from './branches.ts';
import { describeOp, type ShownPlan } from './files/branch-files.ts';
import type { Resolutions } from './files/merge-plan.ts';

export interface BranchManagementDeps {
  branches: Pick<Branches, 'list' | 'planFiles' | 'endFiles'>;
  scrubber: Pick<Scrubber, 'maskText'>;
}

/** Bytes of a patch; of a longer one the rest is counted. */
const PATCH_MAX_BYTES = 1024 * 1024;

/** What a person may see of branches, and do with their files. */
export function createBranchManagement(
  deps: BranchManagementDeps,
): Pick<RpcHandlers, 'listBranches' | 'planBranchFiles' | 'endBranchFiles'> {
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
    async endBranchFiles(request, record) {
      const merged = await deps.branches.endFiles(request.root, request.branch, {
        end: request.discard ? 'discard' : 'merge',
        resolutions: resolutionsOf(request),
        call: { requestId: record.requestId, tool: 'merge' },
      });
      const files = merged?.changes?.files ?? [];
      const more = merged?.changes?.more ?? 0;
      const ref = merged?.changes?.ref ?? '';
      if (ref !== '') record.note({ files_changed: { ref, count: files.length + more } });
      return {
        branch: request.branch,
        state: request.discard ? 'discarded' : 'merged',
        changes: [...files, ...(more > 0 ? [`and ${more} more`] : [])].map((line) => deps.scrubber.maskText(line)),
        conflicts: [],
        skipped: pathsOf(merged?.skipped ?? [], deps),
        commits: (merged?.commits ?? []).map(({ id, subject }) => deps.scrubber.maskText(`${id} ${subject}`)),
        patch: '',
        patch_left: 0,
        undone_by: ref,
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
