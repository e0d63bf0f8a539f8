import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchInstallation, installForBench } from '../lib/machine.ts';
import { makeNoopRoot } from '../lib/noop-installation.ts';
import type { Outcome, Section, SectionOptions } from '../lib/section.ts';
import { LOGGED, type Measured, measureCall } from '../lib/step-times.ts';

const NOOP = 'a tool that does nothing';

/** The daemon's own work: a call without starting a process or opening a connection. */
export const openChannelSection: Section = {
  async run(options) {
    const noop = await inNoopInstallation(options);
    const core = await withInstallation(await installForBench(LOGGED), (at) => callCoreTools(at, options));
    return {
      tables: [
        {
          title: 'one call over an open channel, ms',
          base: null,
          rows: [noop.row, ...core.map(({ row }) => row)],
          aims: [{ row: NOOP, atMost: 2, times: null }],
        },
        ...[noop, ...core].map(({ row, steps }) => ({
          title: `steps of ${row.name}, ms`,
          base: null,
          rows: steps,
          aims: [],
        })),
      ],
      facts: [],
    } satisfies Outcome;
  },
};

async function inNoopInstallation(options: SectionOptions): Promise<Measured> {
  const installation = await makeNoopRoot();
  try {
    const at = await installForBench(LOGGED, installation.root);
    return await withInstallation(at, () => measureCall(at, NOOP, 'noop', {}, options));
  } finally {
    installation.remove();
  }
}

async function callCoreTools(at: BenchInstallation, options: SectionOptions): Promise<Measured[]> {
  writeFileSync(join(at.project, 'small.txt'), 'one\ntwo\nthree\n');
  return [
    await measureCall(at, 'safe_read of a small file', 'safe_read', { path: 'small.txt' }, options),
    await measureCall(at, 'safe_bash true', 'safe_bash', { command: 'true' }, options),
  ];
}

async function withInstallation<T>(at: BenchInstallation, use: (at: BenchInstallation) => Promise<T>): Promise<T> {
  try {
    return await use(at);
  } finally {
    await at.remove();
  }
}
