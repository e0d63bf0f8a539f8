import { ContextdError } from '../core/errors.ts';
import type { WorkspaceRulesReader } from '../scrub/workspace-rules.ts';
import type { Management, RulesReviewResult } from '../server/door.ts';
import type { Consents } from '../stores/consents.ts';
import type { ProjectStore } from '../stores/projects.ts';

export interface RuleManagementDeps {
  projects: ProjectStore;
  workspaceRules: WorkspaceRulesReader;
  consents: Pick<Consents, 'give' | 'withdraw'>;
}

/** What a person decides on the rules that a project brings (`ctxd scrub approve`). */
export function createRuleManagement(
  deps: RuleManagementDeps,
): Pick<Management, 'reviewRules' | 'approveRules' | 'revokeRules'> {
  const review = async (root: string): Promise<RulesReviewResult> => {
    if ((await deps.projects.find(root)) === null) throw notRegistered(root);
    return deps.workspaceRules.review(root);
  };
  return {
    reviewRules: review,
    async approveRules(root, sha256) {
      const now = await review(root);
      if (now.fault !== null) throw new ContextdError('SCHEMA_INVALID', now.fault, { remedy: `Mend ${now.path}.` });
      if (now.sha256 === null || now.sha256 !== sha256) throw changed(now.path);
      await deps.consents.give(root, 'rules', sha256);
      return deps.workspaceRules.review(root);
    },
    async revokeRules(root) {
      await deps.consents.withdraw(root, 'rules');
      return review(root);
    },
  };
}

function notRegistered(root: string): ContextdError {
  return new ContextdError('NOT_FOUND', `${root} is not a registered project`, { remedy: 'Run `ctxd init` there.' });
}

function changed(path: string): ContextdError {
  return new ContextdError('CONFLICT', `${path} is not what was reviewed`, {
    remedy: 'Look at it and run `ctxd scrub approve` again.',
  });
}
