import { ContextdError } from '../../core/errors.ts';
import type {
  UndoCall__Output as UndoCall,
  UndoPlan__Output as UndoPlan,
} from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { confirm } from '../input.ts';
import { projectAt } from '../project-root.ts';
import { countOf, type View } from '../render.ts';

/** Paths that are shown for each kind of change; `--json` has all. */
const SHOWN_MAX = 30;
/** Characters of a column of the list. */
const INPUT_CHARS = 48;
const FILES_CHARS = 60;

/** Takes back what a call did to files. */
export const undo = defineCommand<UndoPlan | readonly UndoCall[]>({
  name: ['undo'],
  summary: 'Take back what a call did to files, by any command too. An undo can be undone.',
  parameters: [
    {
      syntax: '[call]',
      help: 'a ref (undo_…) or request id (req_…) of an answer (default: the last call that changed more than by-products, such as what git ignores)',
    },
  ],
  options: [
    { syntax: '--list', help: 'list the calls that changed files' },
    { syntax: '--yes', help: 'do not ask' },
    { syntax: '--partial', help: 'put the other files back if some have changed since' },
    { syntax: '--dry-run', help: 'only show what would be done' },
    { syntax: '--project <dir>', help: 'the project directory (default: the current project)' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    const partial = args.flag('partial');
    if (args.flag('list') && (args.word(0) !== undefined || partial || args.flag('yes') || args.flag('dryRun')))
      throw new ContextdError('ARGS_INVALID', '--list takes no call and no other option but --project and --json', {
        remedy: 'Run `ctxd undo --list`, then `ctxd undo undo_…` with an id of the list.',
      });
    return withClient(context.paths, async (client) => {
      if (args.flag('list')) return (await client.listUndo({ root })).calls;
      const plan = await client.planUndo({ root, which: args.word(0) ?? '', partial });
      if (args.flag('dryRun')) return plan;
      if (!plan.files.some(isChange)) {
        if (plan.files.some(({ action }) => action === 'keep')) throw nothingLeft(plan);
        return plan;
      }
      if (!args.flag('yes')) await confirm(context, linesOf(plan), 'Take it back?', notAsked());
      return { ...(await client.undoChanges({ root, which: plan.ref, partial })), skipped: plan.skipped };
    });
  },
  view: (found) => ('ref' in found ? { kind: 'lines', lines: linesOf(found) } : tableOf(found)),
});

function tableOf(calls: readonly UndoCall[]): View {
  return {
    kind: 'table',
    columns: ['ID', 'WHEN', 'CALL', 'INPUT', 'FILES', 'UNDO'],
    rows: calls.map((call) => [
      call.ref === '' ? call.request_id : call.ref,
      new Date(call.at_ms).toISOString(),
      call.tool,
      short(call.input, INPUT_CHARS),
      short(filesOf(call), FILES_CHARS),
      `${VERDICTS[call.verdict] ?? call.verdict}${call.cut_short ? ', cut short' : ''}`,
    ]),
    empty: 'no call has changed files that are still known',
  };
}

/** What an undo without a name does with a call. */
const VERDICTS: Readonly<Record<string, string>> = {
  work: 'takes it back',
  byproducts: 'skipped: by-products',
  'not covered': 'stops: not covered',
};

function filesOf({ files, file_count, not_covered }: UndoCall): string {
  const more = file_count > files.length ? [`and ${file_count - files.length} more`] : [];
  return [...files, ...more, ...(files.length === 0 ? not_covered : [])].join(', ');
}

function short(text: string, chars: number): string {
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}

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
    ...plan.skipped.map((call) => `skipped, because it changed only by-products: ${nameOf(call)}`),
    ...plan.not_covered.map((line) => `not covered: ${line}`),
    ...(plan.shared ? ['Other calls worked in the project meanwhile: some of the changes may be theirs.'] : []),
    ...(plan.cut_short ? [CUT_SHORT] : []),
    ...(plan.cut_short_beside.length > 0 ? [`It ended with ${plan.cut_short_beside.join(', ')}.`] : []),
    ...(isDone ? [`Undone. \`ctxd undo ${plan.undone_by}\` takes this back.`] : []),
    ...(!isDone && !plan.files.some(isChange) ? ['There is nothing to put back.'] : []),
  ];
}

/** Changes of a person between the end of contextd and the next look count as the call's. */
const CUT_SHORT =
  'contextd ended before this call did: what changed until contextd looked at the files again is among the changes.';

function nameOf(call: UndoCall): string {
  const id = call.ref === '' ? call.request_id : call.ref;
  return `${id}, ${call.tool} at ${new Date(call.at_ms).toISOString()} (${short(filesOf(call), FILES_CHARS)})`;
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
