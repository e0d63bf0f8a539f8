import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchInstallation, installForBench, SAFE_BASH_LINK } from './machine.ts';
import { type Contender, race, runProcess } from './measure.ts';
import { missingRow, rowsOf, type Table } from './section.ts';
import { filesBelow } from './sources.ts';
import { findToolchain, goRoot } from './toolchains.ts';

const ROUNDS = 7;
const GITLEAKS = 'cat FILE | gitleaks stdin';
const CHANNEL = 'safe_bash "cat FILE", open channel';
const PROCESS = 'safe_bash "cat FILE", a process';
const SCRUB = 'ctxd scrub FILE';
const GITLEAKS_FLAGS = '--no-banner --log-level=error --exit-code=0 --max-decode-depth=5';
/** The share of the time of gitleaks that `ctxd scrub` may take. */
const SCRUB_SHARE = 0.7;

interface LongOutput {
  name: string;
  text: string;
  /** The share of the time of gitleaks that a call may take. */
  callShare: number;
}

/**
 * Whole calls whose output is a megabyte, and `ctxd scrub` of the same file, beside a pipe through gitleaks.
 * `gitleaks`: its path, or null. `report` is called with each table.
 */
export async function measureLongCalls(gitleaks: string | null, report: (table: Table) => void): Promise<void> {
  const at = await installForBench({});
  try {
    for (const output of await longOutputs()) report(await compare(at, output, gitleaks));
  } finally {
    await at.remove();
  }
}

function compare(
  at: BenchInstallation,
  { name, text, callShare }: LongOutput,
  gitleaks: string | null,
): Promise<Table> {
  writeFileSync(join(at.project, 'output.txt'), text);
  const command = 'cat output.txt';
  const inProject = { cwd: at.project, env: at.env };
  let sessions = 0;
  const processes: Contender[] = [
    { name: PROCESS, once: async () => void (await runProcess(SAFE_BASH_LINK, [command], inProject)) },
    {
      name: SCRUB,
      once: async () => void (await runProcess(join(at.root, 'bin/ctxd'), ['scrub', 'output.txt'], inProject)),
    },
  ];
  const pipe = `${command} | "$0" stdin ${GITLEAKS_FLAGS}`;
  const peer =
    gitleaks === null
      ? []
      : [{ name: GITLEAKS, once: async () => void (await runProcess('sh', ['-c', pipe, gitleaks], inProject)) }];
  return at.withDaemon(async (daemon) => {
    const channel: Contender = {
      name: CHANNEL,
      once: async () => void (await daemon.call('safe_bash', { command }, `long-${name}-${sessions++}`)),
    };
    const measured = await race([channel, ...processes, ...peer], ROUNDS);
    return {
      title: `1 MB of ${name} as a call, ms`,
      base: gitleaks === null ? null : GITLEAKS,
      rows: [
        ...rowsOf(measured),
        ...(gitleaks === null ? [missingRow(GITLEAKS, 'not installed: run ./install.sh --gitleaks')] : []),
      ],
      aims: [
        { row: PROCESS, atMost: callShare, times: GITLEAKS },
        { row: SCRUB, atMost: SCRUB_SHARE, times: GITLEAKS },
      ],
    };
  });
}

async function longOutputs(): Promise<LongOutput[]> {
  const go = await findToolchain(goRoot);
  const base64 = randomBytes(0.73 * 1024 * 1024).toString('base64');
  return [
    ...(go === null ? [] : [{ name: "Go's library", text: filesBelow(join(go, 'src/net'), '.go'), callShare: 0.5 }]),
    { name: 'base64 lines', text: (base64.match(/.{1,76}/g) ?? []).join('\n'), callShare: 0.6 },
    { name: 'seq 200000', text: Array.from({ length: 200_000 }, (_, i) => `${i + 1}\n`).join(''), callShare: 0.5 },
  ];
}
