import { ContextdError } from '../../core/errors.ts';
import { type RulesReview, withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import type { CliContext } from '../context.ts';
import { resolveProjectRoot } from '../init/project-root.ts';
import { projectAround } from '../project-option.ts';

/** A `.gitleaks.toml` only adds rules until a person looked at it; what it may do besides holds for these very bytes. */
export const scrubApprove = defineCommand({
  name: ['scrub', 'approve'],
  summary: "show what a project's .gitleaks.toml would allow, and allow it, until the file changes",
  parameters: [{ syntax: '[path]', help: 'the project (default: the one around here)' }],
  options: [
    { syntax: '--yes', help: 'do not ask' },
    { syntax: '--revoke', help: 'take an approval back' },
  ],
  async run(context, given) {
    const path = given.word(0);
    const root =
      path === undefined
        ? await projectAround(context)
        : await resolveProjectRoot(context.cwd, path, context.env.home, context.paths);
    return withClient(context.paths, async (client) => {
      if (given.flag('revoke')) return client.revokeRules(root);
      const review = await client.reviewRules(root);
      checkUsable(review);
      if (review.approved) return review;
      if (!given.flag('yes')) await ask(context, review);
      return client.approveRules(root, review.sha256);
    });
  },
  view: (review) => ({ kind: 'lines', lines: [...tell(review), verdict(review)] }),
});

function checkUsable({ path, sha256, fault }: RulesReview): void {
  if (sha256 === '' && fault === '') throw new ContextdError('PATH_NOT_FOUND', `there is no ${path}`);
  if (fault !== '') throw new ContextdError('SCHEMA_INVALID', fault, { remedy: `Mend ${path}; it is not used now.` });
}

function tell({ path, sha256, rules, allowances }: RulesReview): string[] {
  if (sha256 === '') return [`${path} is not there`];
  const more = allowances.length === 0 ? ['Nothing in it needs an approval.'] : allowances.map((one) => `  ${one}`);
  return [`${path} (sha256 ${sha256}) adds ${rules} rules. An approval allows besides:`, ...more];
}

function verdict({ approved }: RulesReview): string {
  return approved ? 'Approved, until the file changes.' : 'Not approved: it only adds rules.';
}

async function ask(context: CliContext, review: RulesReview): Promise<void> {
  const refused = new ContextdError('CANCELLED', 'nothing was approved', {
    remedy: 'Say yes, or pass --yes where nobody can be asked.',
  });
  await confirm(context, tell(review), 'Allow that?', refused);
}
