import type { MemoryReport__Output as MemoryReport } from '../../protocol/generated/management.ts';
import { defineCommand } from '../command.ts';
import { inProject } from '../tools/in-project.ts';
import { PROJECT } from './memory.ts';

type KindLift = MemoryReport['kinds'][number];
type MemoryLift = MemoryReport['memories'][number];

/** What memories change: sessions that saw them against sessions from which they were held out. */
export const memoryReport = defineCommand<MemoryReport>({
  name: ['memory', 'report'],
  summary: 'Show how much better work went with each memory than without it. Needs memory.holdout.',
  parameters: [{ syntax: '[ids...]', help: 'only these memories' }],
  options: [PROJECT],
  run: (context, args) =>
    inProject(context, args, (client, root) => client.reportMemories({ root, ids: args.words() })),
  view: ({ holdout, memories, kinds }) => ({
    kind: 'stack',
    views: [
      { kind: 'lines', lines: [stateOf(holdout)] },
      {
        kind: 'table',
        columns: ['KIND', 'REPORTED', 'WEAK', 'OPEN', 'SHOWN', 'HELD OUT', 'LIFT', '95 %', 'RESULT'],
        rows: kinds.map(kindRowOf),
        numbers: [1, 2, 3, 4, 5, 6],
        empty: '',
      },
      {
        kind: 'table',
        columns: ['ID', 'SHOWN', 'SUCCESS', 'HELD OUT', 'SUCCESS', 'LIFT', '95 %', 'RESULT', 'TITLE'],
        rows: memories.map(rowOf),
        numbers: [1, 2, 3, 4, 5],
        empty: 'no search has found a memory while some were held out',
      },
    ],
  }),
});

function stateOf(holdout: number): string {
  if (holdout > 0) return `${percent(holdout)} of what a session finds is held out`;
  return 'nothing is held out now; `ctxd config set memory.holdout 0.1` compares work with and without each memory';
}

function rowOf(memory: MemoryLift): string[] {
  const { id, title, shown, held_out, shown_open, held_out_open, lift, low, high, verdict } = memory;
  return [
    id,
    counted(shown, shown_open),
    shareOf(memory.shown_success, shown),
    counted(held_out, held_out_open),
    shareOf(memory.held_out_success, held_out),
    shown === 0 || held_out === 0 ? '' : signed(lift),
    `${signed(low)} to ${signed(high)}`,
    verdict,
    title,
  ];
}

/** Shares of successes of sessions with and without memories of a kind; none without sessions. */
function kindRowOf(kind: KindLift): string[] {
  const { reported, weak, open, shown_success: shown, held_out_success: heldOut, lift, low, high } = kind;
  const counts = [reported, weak, open].map(String);
  if (reported + weak === 0) return [kind.kind, ...counts, '', '', '', '', kind.verdict];
  const shares = [percent(shown), percent(heldOut), signed(lift), `${signed(low)} to ${signed(high)}`];
  return [kind.kind, ...counts, ...shares, kind.verdict];
}

/** Sessions whose outcome is not known are counted apart. */
function counted(known: number, open: number): string {
  return open === 0 ? String(known) : `${known} (+${open} open)`;
}

function shareOf(share: number, sessions: number): string {
  return sessions === 0 ? '' : percent(share);
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function signed(share: number): string {
  const points = Math.round(share * 100);
  return points > 0 ? `+${points}` : String(points);
}
