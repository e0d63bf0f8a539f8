import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type BenchInstallation, inheritedPath, installForBench, SAFE_BASH_LINK } from '../lib/machine.ts';
import { type Mcporter, startMcporter } from '../lib/mcporter.ts';
import { type Contender, race, runProcess, type Spread } from '../lib/measure.ts';
import { startNoopDaemon } from '../lib/noop-daemon.ts';
import { findPeer } from '../lib/peers.ts';
import {
  type Fact,
  missingRow,
  type Outcome,
  type Row,
  rowsOf,
  type Section,
  type SectionOptions,
} from '../lib/section.ts';

const SERVER = fileURLToPath(new URL('../lib/mcp-server-main.js', import.meta.url));
const NODE = 'node -e 0 (Node 24)';
const VERSION = 'contextd-proxy --version';
const PROXY = 'proxy alone, a handler that does nothing';
const OURS = 'safe_bash true';
const MCPORTER = 'mcporter call, its daemon running';
const SRT = 'srt true';

/** Milliseconds until the daemon is ready for the next call. */
const REST_MS = 30;

/** From spawn to the last byte of output, compared with the programs that a user would run instead. */
export const wholeProcessSection: Section = {
  async run(options) {
    const at = await installForBench({});
    try {
      return await compare(at, options);
    } finally {
      await at.remove();
    }
  },
};

async function compare(at: BenchInstallation, options: SectionOptions): Promise<Outcome> {
  const noop = await startNoopDaemon(at);
  const peers = await peerContenders();
  const inProject = { cwd: at.project, env: at.env };
  try {
    const measured = await race(
      [
        { name: 'bash -c true', once: () => whole('bash', ['-c', 'true']) },
        { name: NODE, once: () => whole(process.execPath, ['-e', '0']) },
        { name: "node -e 0 (the machine's)", once: () => whole('node', ['-e', '0'], { env: systemPath() }) },
        { name: VERSION, once: () => whole(at.paths.proxyBinary, ['--version'], inProject) },
        { name: PROXY, once: () => whole(SAFE_BASH_LINK, ['{}'], { cwd: noop.project, env: noop.env }) },
        {
          name: OURS,
          once: () => whole(SAFE_BASH_LINK, ['{"command":"true"}'], inProject),
          after: () => delay(REST_MS),
        },
        ...peers.contenders,
      ],
      options.rounds,
    );
    const aims = [
      { row: OURS, atMost: 16, times: null },
      { row: OURS, atMost: 1, times: NODE },
    ];
    const rows = [...rowsOf(measured), ...peers.missing];
    return { tables: [{ title: 'one call as a process, ms', base: NODE, rows, aims }], facts: shares(measured) };
  } finally {
    await peers.stop();
    await noop.stop();
  }
}

/** Splits the time of our call into parts, from the differences of medians. */
function shares(measured: ReadonlyMap<string, Spread>): Fact[] {
  const at = (name: string): number => measured.get(name)?.medianMs ?? Number.NaN;
  const share = (name: string, ms: number): Fact => ({ name, value: `${ms.toFixed(2)} ms` });
  return [
    share('of it, start and end of the program', at(VERSION)),
    share('of it, link check, connection and gRPC', at(PROXY) - at(VERSION)),
    share("of it, the daemon's nine steps", at(OURS) - at(PROXY)),
  ];
}

interface PeerContenders {
  contenders: Contender[];
  missing: Row[];
  stop(): Promise<void>;
}

async function peerContenders(): Promise<PeerContenders> {
  const srt = findPeer('srt');
  const found = findPeer('mcporter');
  const mcporter = found.path === null ? null : await startMcporter(found.path, SERVER);
  return {
    contenders: [
      ...(mcporter === null ? [] : [mcporterContender(mcporter)]),
      ...(srt.path === null ? [] : [srtContender(srt.path)]),
    ],
    missing: [
      ...(found.missing === null ? [] : [missingRow(MCPORTER, found.missing)]),
      ...(srt.missing === null ? [] : [missingRow(SRT, srt.missing)]),
    ],
    async stop() {
      await mcporter?.stop();
    },
  };
}

function mcporterContender(mcporter: Mcporter): Contender {
  return { name: MCPORTER, once: async () => void (await mcporter.call('run', 'command=true', 'exit_code')) };
}

function srtContender(program: string): Contender {
  return { name: SRT, once: () => whole(process.execPath, [program, 'true']) };
}

async function whole(...call: Parameters<typeof runProcess>): Promise<undefined> {
  await runProcess(...call);
}

/** PATH without the packages' own Node, which `npm run` puts first. */
function systemPath(): Record<string, string> {
  const dirs = inheritedPath().split(':');
  return { PATH: dirs.filter((dir) => !dir.includes(join('node_modules', '.bin'))).join(':') };
}
