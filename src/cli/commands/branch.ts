import { ContextdError } from '../../core/errors.ts';
import type {
  BranchFilesPlan__Output as BranchFilesPlan,
  BranchFilesRequest__Output as BranchFilesRequest,
  BranchInfo__Output as BranchInfo,
  BranchList__Output as BranchList,
} from '../../protocol/generated/management.ts';
import { withClient } from '../client.ts';
import { defineCommand, type ParsedArgs } from '../command.ts';
import type { CliContext } from '../context.ts';
import { confirm } from '../input.ts';
import { projectAt } from '../project-root.ts';
import { countOf } from '../render.ts';

/** Lists the side tasks of a project: what each is for, and what it cost. */
const branchList = defineCommand<BranchList>({
  name: ['branch', 'list'],
  summary: 'List open branches and those whose files are kept, with --all closed ones too.',
  options: [
    { syntax: '--all', help: 'also those that were closed in the last two weeks' },
    { syntax: '--project <dir>', help: 'the project directory (default: the current project)' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    const { branches } = await withClient(context.paths, (client) => client.listBranches({ root }));
    return { branches: args.flag('all') ? branches : branches.filter(isOpen) };
  },
  bare: ({ branches }) => JSON.stringify(branches),
  view: ({ branches }) => ({
    kind: 'table',
    columns: ['ID', 'STATE', 'FILES', 'TOKENS', 'CALLS', 'OPENED', 'SESSION', 'IN', 'DESCRIPTION'],
    rows: branches.map(rowOf),
    numbers: [4],
    empty: 'no branches',
  }),
});

/** Also a closed one with files that can still be merged. */
function isOpen({ state, files }: BranchInfo): boolean {
  return state === 'open' || files === 'open' || files === 'merging';
}

function rowOf(branch: BranchInfo): string[] {
  const { id, state, files, tokens, budget_tokens, calls, opened_ms, session, parent, description } = branch;
  const opened = new Date(opened_ms).toISOString();
  return [
    id,
    state,
    files === '' ? 'shared' : `own, ${files}`,
    `${tokens}/${budget_tokens}`,
    String(calls),
    opened,
    session,
    parent,
    description,
  ];
}

const BRANCH = { syntax: '<branch>', help: 'its id, br_…' };
const PROJECT = { syntax: '--project <dir>', help: 'the project directory (default: the current project)' };
const YES = { syntax: '--yes', help: 'do not ask' };
/** Paths that are shown of each kind; `--json` has all. */
const SHOWN_MAX = 50;

/** Shows what a branch with files of its own changed. */
const branchDiff = defineCommand<BranchFilesPlan>({
  name: ['branch', 'diff'],
  summary: 'Show what a branch with files of its own changed, and what a merge would do.',
  parameters: [BRANCH],
  options: [{ syntax: '--patch', help: 'show the differences of texts' }, PROJECT],
  async run(context, args) {
    const request = await requestOf(context, args);
    return withClient(context.paths, (client) => client.planBranchFiles({ ...request, patch: args.flag('patch') }));
  },
  view: (plan) => ({ kind: 'lines', lines: linesOf(plan) }),
});

/** Merges the files of a branch, by the choices of a person for what both sides changed. */
const branchMerge = defineCommand<BranchFilesPlan>({
  name: ['branch', 'merge'],
  summary: 'Merge the files of a branch, open or closed. Each path that both sides changed needs a choice.',
  parameters: [BRANCH],
  options: [
    { syntax: '--keep-base <paths...>', help: 'leave these as they are in the project' },
    { syntax: '--take-branch <paths...>', help: 'make these as they are in the branch' },
    { syntax: '--merge-text <paths...>', help: 'merge the lines of both sides' },
    YES,
    PROJECT,
  ],
  async run(context, args) {
    const request = await requestOf(context, args);
    return withClient(context.paths, async (client) => {
      const plan = await client.planBranchFiles(request);
      if (plan.conflicts.length === 0 && !args.flag('yes')) {
        await confirm(context, linesOf(plan), 'Merge it?', notAsked('merged'));
      }
      return client.endBranchFiles(request);
    });
  },
  view: (plan) => ({ kind: 'lines', lines: linesOf(plan) }),
});

/** Removes the files of a branch. */
const branchDiscard = defineCommand<BranchFilesPlan>({
  name: ['branch', 'discard'],
  summary: 'Remove the files of a branch, and of those in it. The project stays as it is.',
  parameters: [BRANCH],
  options: [YES, PROJECT],
  async run(context, args) {
    const request = await requestOf(context, args);
    return withClient(context.paths, async (client) => {
      if (!args.flag('yes')) {
        const plan = await client.planBranchFiles(request);
        await confirm(context, linesOf(plan), 'Remove these changes for good?', notAsked('discarded'));
      }
      return client.endBranchFiles({ ...request, discard: true });
    });
  },
  view: (plan) => ({ kind: 'lines', lines: linesOf(plan) }),
});

export const branchCommands = [branchList, branchDiff, branchMerge, branchDiscard];

async function requestOf(context: CliContext, args: ParsedArgs): Promise<BranchFilesRequest> {
  return {
    root: await projectAt(context, args.text('project')),
    branch: args.word(0) ?? '',
    discard: false,
    patch: false,
    keep_base: args.list('keepBase'),
    take_branch: args.list('takeBranch'),
    merge_text: args.list('mergeText'),
  };
}

function linesOf({
  branch,
  state,
  changes,
  conflicts,
  skipped,
  commits,
  patch,
  patch_left,
  undone_by,
}: BranchFilesPlan) {
  return [
    `${branch}: ${state}, ${countOf(changes.length, 'change')}${conflicts.length === 0 ? '' : `, ${countOf(conflicts.length, 'conflict')}`}`,
    ...shown(changes.map((line) => `  ${line}`)),
    ...shown(conflicts.map(({ path, why }) => `  conflict: ${path} (${why})`)),
    ...shown(skipped.map(({ path, why }) => `  not merged: ${path} (${why})`)),
    ...commits.map((line) => `  commit that stays behind: ${line}`),
    ...(patch === '' ? [] : ['', ...patch.trimEnd().split('\n')]),
    ...(patch_left > 0 ? [`${patch_left} more files have no room here.`] : []),
    ...(conflicts.length > 0
      ? [`Choose for each: ctxd branch merge ${branch} --keep-base PATH --take-branch PATH --merge-text PATH`]
      : []),
    ...(undone_by === '' ? [] : [`Merged. \`ctxd undo ${undone_by}\` takes this back.`]),
  ];
}

function shown(lines: readonly string[]): string[] {
  const more = lines.length - SHOWN_MAX;
  return [...lines.slice(0, SHOWN_MAX), ...(more > 0 ? [`  and ${more} more`] : [])];
}

function notAsked(what: string): ContextdError {
  return new ContextdError('CANCELLED', `nothing was ${what}`, {
    remedy: 'Answer yes, or pass --yes if nobody can be asked.',
  });
}
