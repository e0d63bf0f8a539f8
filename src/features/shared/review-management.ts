import { ContextdError } from '../../core/errors.ts';
import type { QuarantineAction, QuarantineResult } from '../../guard/contract/quarantine.ts';
import type {
  QuarantinedItem__Output as QuarantinedItem,
  QuarantineResponse__Output as QuarantineResponse,
  RulesReview__Output as RulesReview,
} from '../../protocol/generated/management.ts';
import type { Management } from '../../protocol/management-contract.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import type { WorkspaceRulesReader } from '../../scrub/workspace-rules.ts';
import type { Consents } from '../../stores/consents.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import { requireProject } from '../projects/require-project.ts';

export interface ReviewDeps {
  projects: Pick<ProjectStore, 'find'>;
  workspaceRules: WorkspaceRulesReader;
  consents: Pick<Consents, 'give' | 'withdraw'>;
  sandbox: Pick<Sandbox, 'quarantine'>;
  policyFor(root: string): SandboxPolicy;
}

type Reviews = Pick<
  Management,
  | 'reviewRules'
  | 'approveRules'
  | 'revokeRules'
  | 'listQuarantine'
  | 'restoreQuarantined'
  | 'removeQuarantined'
  | 'acceptQuarantined'
  | 'revokeAccepted'
>;

/** What a person reviews and approves in a project: its own rules, and files that contextd set aside. */
export function createReviews(deps: ReviewDeps): Reviews {
  const quarantine = async (root: string, action: QuarantineAction): Promise<QuarantineResponse> =>
    quarantineResponse(await deps.sandbox.quarantine(deps.policyFor(root), action));
  return {
    reviewRules: ({ root }) => reviewRules(root, deps),
    async approveRules({ root, sha256 }) {
      const { path, fault, sha256: current } = await reviewRules(root, deps);
      if (fault !== '') throw new ContextdError('SCHEMA_INVALID', fault, { remedy: `Fix ${path}.` });
      if (current === '' || current !== sha256) throw changed(path);
      await deps.consents.give(root, 'rules', sha256);
      return reviewRules(root, deps);
    },
    async revokeRules({ root }) {
      await deps.consents.withdraw(root, 'rules');
      await requireProject(root, deps.projects);
      return reviewRules(root, deps);
    },
    listQuarantine: ({ root, which, unseen }) =>
      quarantine(root, { kind: 'list', which: which === '' ? null : which, isShown: !unseen }),
    restoreQuarantined: ({ root, which }) => quarantine(root, { kind: 'restore', which }),
    removeQuarantined: ({ root, which }) => quarantine(root, { kind: 'remove', which }),
    acceptQuarantined: ({ root, which, sha256 }) => quarantine(root, { kind: 'accept', which, sha256 }),
    revokeAccepted: ({ root, which }) => quarantine(root, { kind: 'revoke', which }),
  };
}

async function reviewRules(root: string, { workspaceRules }: ReviewDeps): Promise<RulesReview> {
  const { sha256, fault, allowances, ...review } = await workspaceRules.review(root);
  return { ...review, sha256: sha256 ?? '', fault: fault ?? '', allowances: [...allowances] };
}

function quarantineResponse({ items, accepted }: QuarantineResult): QuarantineResponse {
  return {
    items: items.map(quarantinedItem),
    accepted: accepted.map(({ path, sha256, at }) => ({ path, sha256, accepted_ms: at })),
  };
}

function quarantinedItem(item: QuarantineResult['items'][number]): QuarantinedItem {
  return {
    id: item.id,
    path: item.path,
    moved: item.moved,
    reason: item.reason,
    kind: item.kind,
    set_aside_ms: item.at,
    ...(item.sizeBytes === null ? {} : { size_bytes: item.sizeBytes }),
    sha256: item.sha256 ?? '',
    no_hash_because: item.noHashBecause ?? '',
    preview: item.preview ?? '',
  };
}

function changed(path: string): ContextdError {
  return new ContextdError('CONFLICT', `${path} has changed since it was reviewed`, {
    remedy: 'Review it and run `ctxd scrub approve` again.',
  });
}
