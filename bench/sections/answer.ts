import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installForBench } from '../lib/machine.ts';
import { INPUTS } from '../lib/scrub-inputs.ts';
import type { Section, Table } from '../lib/section.ts';
import { LOGGED, type Measured, measureCall } from '../lib/step-times.ts';

const KIB = 1024;
/** Sizes of a part of a long build log. The aims, in milliseconds, are for the steps store and budget together. */
const SIZES = [
  { name: '2 KB', chars: 2 * KIB, aimMs: null },
  { name: '16 KB', chars: 16 * KIB, aimMs: 1 },
  { name: '1 MB', chars: KIB * KIB, aimMs: 15 },
] as const;
const VIEWS = [undefined, 'errors', { grep: 'warning' }] as const;
/** A call with a megabyte takes a hundred milliseconds, so it gets fewer rounds. */
const LONG_ROUNDS = 10;
const TOGETHER = '  store and budget';

/** The cost of storing an output and cutting an answer from it, in whole calls to a real daemon. */
export const answerSection: Section = {
  async run(options) {
    const at = await installForBench(LOGGED);
    try {
      const tables: Table[] = [];
      for (const { name, chars, aimMs } of SIZES) {
        const rounds = Math.min(options.rounds, chars > 16 * KIB ? LONG_ROUNDS : options.rounds);
        writeFileSync(join(at.project, 'build.log'), INPUTS.at(-1)?.text.slice(0, chars) ?? '');
        for (const view of VIEWS) {
          // Makes every output different: the store keeps equal outputs only once.
          const input = { command: 'date +%N; cat build.log', ...(view === undefined ? {} : { view }) };
          const shown = view === undefined ? 'the default view' : JSON.stringify(view);
          const measured = await measureCall(at, `${name} of a log, ${shown}`, 'safe_bash', input, {
            ...options,
            rounds,
          });
          tables.push(tableOf(measured, view === undefined ? aimMs : null));
        }
      }
      return { tables, facts: [] };
    } finally {
      await at.remove();
    }
  },
};

function tableOf({ row, steps }: Measured, aimMs: number | null): Table {
  const aims = aimMs === null ? [] : [{ row: TOGETHER, atMost: aimMs, times: null }];
  return { title: `${row.name}, ms`, base: null, rows: [{ ...row, name: 'the call' }, ...steps], aims };
}
