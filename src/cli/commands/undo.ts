import { ContextdError } from '../../core/errors.ts';
import type { UndoPlan__Output as UndoPlan } from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { confirm } from '../input.ts';
import { projectAt } from '../project-root.ts';
import { countOf } from '../render.ts';

/** Paths that are shown for each kind of change; `--json` has all. */
const SHOWN_MAX = 30;

/** Takes back what a call did to files. */
export const undo = defineCommand<UndoPlan>({
  name: ['undo'],
  summary: 'Take back what a call did to files, by any command too. An undo can be undone.',
  parameters: [
    {
      syntax: '[call]',
      help: 'a ref (undo_…) or request id (req_…) of an answer (default: the last call that changed files)',
    },
  ],
  options: [
    { syntax: '--yes', help: 'do not ask' },
    { syntax: '--partial', help: 'put the other files back if some have changed since' },
    { syntax: '--dry-run', help: 'only show what would be done' },
    { syntax: '--project <dir>', help: 'the project directory (default: the current project)' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    const partial = args.flag('partial');
    return withClient(context.paths, async (client) => {
      const plan = await client.planUndo({ root, which: args.word(0) ?? '', partial });
      if (args.flag('dryRun')) return plan;
      if (!plan.files.some(isChange)) {
        if (plan.files.some(({ action }) => action === 'keep')) throw nothingLeft(plan);
        return plan;
      }
      if (!args.flag('yes')) await confirm(context, linesOf(plan), 'Take it back?', notAsked());
      return client.undoChanges({ root, which: plan.ref, partial });
    });
  },
  view: (plan) => ({ kind: 'lines', lines: linesOf(plan) }),
});

function isChange({ action }: UndoPlan['files'][number]): boolean {
  return action === 'restore' || action === 'remove';
}

function linesOf(plan: UndoPlan): string[] {
  const isDone = plan.undone_by !== '';
  const at = (action: string): UndoPlan['files'] => plan.files.filter((file) => file.action === action);
  return [
    `${plan.ref}: ${plan.tool} at ${new Date(plan.at_ms).toISOString()}, ${countOf(plan.files.length, 'file')}`,
    ...section(isDone ? 'put back' : 'to put back', at('restore')),
    ...section(isDone ? 'removed' : 'to remove', at('remove')),
    ...section('already as before', at('done')),
    ...section('stays as it is', at('keep')),
    ...plan.not_covered.map((line) => `not covered: ${line}`),
    ...(plan.shared ? ['Other calls worked in the project meanwhile: some of the changes may be theirs.'] : []),
    ...(isDone ? [`Undone. \`ctxd undo ${plan.undone_by}\` takes this back.`] : []),
    ...(!isDone && !plan.files.some(isChange) ? ['There is nothing to put back.'] : []),
  ];
}

function section(title: string, files: UndoPlan['files']): string[] {
  const more = files.length - SHOWN_MAX;
  return [
    ...files.slice(0, SHOWN_MAX).map(({ path, why }) => `  ${title}: ${path}${why === '' ? '' : ` (${why})`}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** A script must not take this for an undo. */
function nothingLeft({ ref, files }: UndoPlan): ContextdError {
  const kept = files.filter(({ action }) => action === 'keep').map(({ path, why }) => `${path} (${why})`);
  const more = kept.length > SHOWN_MAX ? ` and ${kept.length - SHOWN_MAX} more` : '';
  return new ContextdError(
    'CONFLICT',
    `nothing of ${ref} was put back: ${kept.slice(0, SHOWN_MAX).join(', ')}${more}`,
    {
      remedy: 'The files stay as they are. `ctxd undo --dry-run` shows each of them.',
    },
  );
}

function notAsked(): ContextdError {
  return new ContextdError('CANCELLED', 'nothing was put back', {
    remedy: 'Answer yes, or pass --yes if nobody can be asked.',
  });
}
