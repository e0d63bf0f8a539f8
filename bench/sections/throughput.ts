import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { quantileUs } from '../../src/core/histogram.ts';
import type { StatusResponse__Output as StatusResponse } from '../../src/protocol/generated/management.ts';
import { type BenchInstallation, type Caller, callerOver, installForBench, SAFE_BASH_LINK } from '../lib/machine.ts';
import { runProcess, spreadOf } from '../lib/measure.ts';
import { makeNoopRoot } from '../lib/noop-installation.ts';
import type { Fact, Outcome, Section, Table } from '../lib/section.ts';

const PROCESSES = 200;
const PROCESSES_AT_ONCE = 16;
const SESSIONS = 16;
const AT_ONCE = [1, 16, 64] as const;
const ROUNDS = 5;
/** Calls of one round, of which each is timed. */
const CALLS = 256;
const FLOODS = 16;
const STATUS_CALLS = 200;
const LOOP_DELAY_MS = 20;

const [GRPC, MCP, DURABLE, LOOSE] = [
  'bare grpc-js with mTLS, an echo',
  'the everything-server of MCP over HTTP, its echo',
  'a tool that does nothing',
  'the same, its record not yet on the disk',
];
const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));

interface Contender {
  readonly name: string;
  call(index: number): Promise<unknown>;
}

/** Many calls at once: over open channels beside two bare servers, beside floods of output, and as whole processes. */
export const throughputSection: Section = {
  async run(_options, report) {
    report(await overChannels());
    const at = await installForBench({});
    try {
      report(await besideFloods(at));
      return { facts: await floodOfProcesses(at) };
    } finally {
      await at.remove();
    }
  },
};

async function overChannels(): Promise<Outcome> {
  const noop = await makeNoopRoot();
  const [durable, loose] = [
    await installForBench({}, noop.root),
    await installForBench({ 'audit.durable': false }, noop.root),
  ];
  const echoSocket = join(durable.home, 'echo.sock');
  const echoProgram = fileURLToPath(new URL('../lib/grpc-echo-main.js', import.meta.url));
  const echo = fork(echoProgram, [durable.paths.certsDir, echoSocket]);
  const everything = await startEverything();
  try {
    await once(echo, 'message');
    const bare = { ...durable.paths, socket: echoSocket };
    return await callerOver(bare, durable.project, (echoed) =>
      durable.withDaemon((one) => loose.withDaemon((other) => raceAll(echoed, everything, one, other))),
    );
  } finally {
    echo.kill();
    await everything.stop();
    await Promise.all([durable.remove(), loose.remove()]);
    noop.remove();
  }
}

async function raceAll(echoed: Caller, everything: Everything, durable: Caller, loose: Caller): Promise<Outcome> {
  const noop = (daemon: Caller) => (index: number) => daemon.call('noop', {}, `session-${index % SESSIONS}`);
  const contenders: Contender[] = [
    { name: GRPC, call: () => echoed.call('noop', {}) },
    { name: MCP, call: () => everything.echo() },
    { name: DURABLE, call: noop(durable) },
    { name: LOOSE, call: noop(loose) },
  ];
  const outcome: Outcome = { tables: [], facts: [] };
  for (const atOnce of AT_ONCE) {
    const { table, facts } = await flood(contenders, atOnce);
    outcome.tables.push(table);
    outcome.facts.push(...facts);
  }
  return outcome;
}

/** The contenders in turn, so that a noisy moment affects all of them equally. The first round is not counted. */
async function flood(contenders: readonly Contender[], atOnce: number): Promise<{ table: Table; facts: Fact[] }> {
  const samples = new Map(contenders.map(({ name }) => [name, { times: [] as number[], rates: [] as number[] }]));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { name, call } of contenders) {
      const { times, perSecond } = await callAtOnce(call, CALLS, atOnce);
      if (round < 0) continue;
      samples.get(name)?.times.push(...times);
      samples.get(name)?.rates.push(perSecond);
    }
  }
  const rateOf = (name: string): number => spreadOf(samples.get(name)?.rates ?? []).medianMs;
  return {
    table: {
      title: `a call, ${atOnce} at a time over one channel, ${SESSIONS} sessions, ms`,
      base: GRPC,
      rows: contenders.map(({ name }) => ({ name, times: spreadOf(samples.get(name)?.times ?? []), note: '' })),
      aims: [],
    },
    facts: contenders.map(({ name }) => ({
      name: `calls a second, ${atOnce} at a time: ${name} (÷ bare grpc-js, ÷ MCP)`,
      value: `${Math.round(rateOf(name))} (${(rateOf(name) / rateOf(GRPC)).toFixed(3)}, ${(rateOf(name) / rateOf(MCP)).toFixed(2)})`,
    })),
  };
}

async function callAtOnce(
  call: Contender['call'],
  calls: number,
  atOnce: number,
): Promise<{ times: number[]; perSecond: number }> {
  const times: number[] = [];
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < calls) {
        const index = next++;
        const began = performance.now();
        await call(index);
        times.push(performance.now() - began);
      }
    }),
  );
  return { times, perSecond: (calls / (performance.now() - start)) * 1000 };
}

interface Everything {
  echo(): Promise<unknown>;
  stop(): Promise<void>;
}

async function startEverything(): Promise<Everything> {
  const port = await freePort();
  const child = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { PATH: process.env.PATH ?? '', PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await listens(child);
  child.stderr?.resume();
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
  return {
    echo: () => client.callTool({ name: 'echo', arguments: { message: 'hello' } }),
    async stop() {
      await client.close();
      child.kill();
      await once(child, 'exit');
    },
  };
}

async function listens(child: ChildProcess): Promise<void> {
  let said = '';
  for await (const chunk of child.stderr ?? []) {
    said += String(chunk);
    if (said.includes('listening')) return;
  }
  throw new Error(`the everything-server ended: ${said}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** What waits for the event loop of the daemon, while calls print as much as they can. */
async function besideFloods(at: BenchInstallation): Promise<Outcome> {
  return at.withDaemon(async (daemon) => {
    const command = 'seq 150000';
    await daemon.call('safe_bash', { command });
    const quiet = await callAtOnce(() => daemon.status(), STATUS_CALLS, 1);
    let isOver = false;
    const floods = Array.from({ length: FLOODS }, async (_, i) => {
      while (!isOver) await daemon.call('safe_bash', { command }, `session-${i}`);
    });
    const before = loopDelayOf(await daemon.status());
    const loud = await callAtOnce(() => daemon.status(), STATUS_CALLS, 1);
    const after = loopDelayOf(await daemon.status());
    isOver = true;
    await Promise.all(floods);
    const counts = after.map((count, bucket) => count - (before[bucket] ?? 0));
    const p99Ms = quantileUs({ counts, count: counts.reduce((sum, one) => sum + one, 0) }, 0.99) / 1000;
    const [alone, beside] = [
      'the status of the daemon',
      `beside ${FLOODS} calls that print 1 MB each, again and again`,
    ];
    return {
      tables: [
        {
          title: 'what a small request waits, ms',
          base: alone,
          rows: [
            { name: alone, times: spreadOf(quiet.times), note: '' },
            { name: beside, times: spreadOf(loud.times), note: '' },
          ],
          aims: [],
        },
      ],
      figures: [
        {
          name: `how late the event loop of the daemon is meanwhile, 99th percentile, upper bound of its bucket`,
          value: `${p99Ms} ms`,
          aim: `≤ ${LOOP_DELAY_MS} ms`,
          isMet: p99Ms <= LOOP_DELAY_MS,
          beside: '',
        },
      ],
      facts: [],
    };
  });
}

function loopDelayOf({ steps }: StatusResponse): readonly number[] {
  return steps.find(({ step }) => step === 'event_loop')?.counts ?? [];
}

/** Whole processes, started as many agents at once would start them. Each answer is checked. */
async function floodOfProcesses(at: BenchInstallation): Promise<Fact[]> {
  let lost = 0;
  const { perSecond } = await callAtOnce(
    async (i) => {
      const line = await runProcess(SAFE_BASH_LINK, [`{"command":"echo ${i}"}`], { cwd: at.project, env: at.env });
      if (!line.includes(`"stdout":"${i}\\n"`)) lost++;
    },
    PROCESSES,
    PROCESSES_AT_ONCE,
  );
  return [
    {
      name: `whole processes a second, ${PROCESSES} in all, ${PROCESSES_AT_ONCE} at a time`,
      value: Math.round(perSecond),
    },
    { name: 'answers lost or wrong', value: lost },
  ];
}
