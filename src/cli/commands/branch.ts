import type { BranchInfo, BranchList } from '../../call/management.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { projectAt } from '../project-root.ts';

/** Lists the side tasks of a project: what each is for, and what it cost. */
export const branchList = defineCommand<BranchList>({
  name: ['branch', 'list'],
  summary: 'List the open branches of a project and what they have spent, with --all closed ones too.',
  options: [
    { syntax: '--all', help: 'also those that were closed in the last two weeks' },
    { syntax: '--project <dir>', help: 'the project directory (default: the current project)' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    const { branches } = await withClient(context.paths, (client) => client.listBranches({ root }));
    return { branches: args.flag('all') ? branches : branches.filter(({ state }) => state === 'open') };
  },
  bare: ({ branches }) => JSON.stringify(branches),
  view: ({ branches }) => ({
    kind: 'table',
    columns: ['ID', 'STATE', 'TOKENS', 'CALLS', 'OPENED', 'SESSION', 'IN', 'DESCRIPTION'],
    rows: branches.map(rowOf),
    numbers: [3],
    empty: 'no branches',
  }),
});

function rowOf({ id, state, tokens, budget_tokens, calls, opened_ms, session, parent, description }: BranchInfo) {
  const opened = new Date(opened_ms).toISOString();
  return [id, state, `${tokens}/${budget_tokens}`, String(calls), opened, session, parent, description];
}
