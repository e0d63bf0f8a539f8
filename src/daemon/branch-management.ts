import type { BranchInfo, Management } from '../call/management.ts';
import { ContextdError } from '../core/errors.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { ListedBranch } from '../session/branches/branch-store.ts';
import type { Branches } from '../session/branches/branches.ts';
import type { ProjectStore } from '../stores/projects.ts';

export interface BranchManagementDeps {
  branches: Pick<Branches, 'list'>;
  projects: Pick<ProjectStore, 'find'>;
  scrubber: Pick<Scrubber, 'maskText'>;
}

/** What a person may see of branches. */
export function createBranchManagement(deps: BranchManagementDeps): Pick<Management, 'listBranches'> {
  return {
    async listBranches({ root }) {
      if ((await deps.projects.find(root)) === null)
        throw new ContextdError('NOT_FOUND', `${root} is not a registered project`, {
          remedy: 'Run `ctxd init` there.',
        });
      return { branches: (await deps.branches.list(root)).map((branch) => infoOf(branch, deps)) };
    },
  };
}

function infoOf(branch: ListedBranch, { scrubber }: BranchManagementDeps): BranchInfo {
  const { id, session, parent, description, closedBy, spentTokens, budgetTokens, calls, openedMs, closedMs } = branch;
  return {
    ...{ id, session: scrubber.maskText(session), parent: parent ?? '', description },
    state: closedBy === '' ? 'open' : closedBy,
    ...{ tokens: spentTokens, budget_tokens: budgetTokens, calls },
    ...{ opened_ms: openedMs, closed_ms: closedMs ?? 0, timeout_ms: branch.timeoutMs },
  };
}
