import { ContextdError } from '../core/errors.ts';
import type { QuarantineAction } from '../sandbox/quarantine.ts';
import type { Sandbox, SandboxPolicy } from '../sandbox/sandbox.ts';
import type { Management, QuarantineInfo } from '../server/door.ts';
import type { ProjectStore } from '../stores/projects.ts';

export interface QuarantineManagementDeps {
  projects: ProjectStore;
  sandbox: Pick<Sandbox, 'quarantine'>;
  policyFor(root: string): SandboxPolicy;
}

/** What a person decides on what commands made and what was set aside (`ctxd quarantine`). */
export function createQuarantineManagement(
  deps: QuarantineManagementDeps,
): Pick<Management, 'listQuarantine' | 'restoreQuarantined' | 'acceptQuarantined' | 'revokeAccepted'> {
  const carryOut = async (root: string, action: QuarantineAction): Promise<QuarantineInfo> => {
    if ((await deps.projects.find(root)) === null) throw notRegistered(root);
    return deps.sandbox.quarantine(deps.policyFor(root), action);
  };
  return {
    listQuarantine: (root, which) => carryOut(root, { kind: 'list', which: which === '' ? null : which }),
    restoreQuarantined: (root, which) => carryOut(root, { kind: 'restore', which }),
    acceptQuarantined: (root, which, sha256) => carryOut(root, { kind: 'accept', which, sha256 }),
    revokeAccepted: (root, which) => carryOut(root, { kind: 'revoke', which }),
  };
}

function notRegistered(root: string): ContextdError {
  return new ContextdError('NOT_FOUND', `${root} is not a registered project`, { remedy: 'Run `ctxd init` there.' });
}
