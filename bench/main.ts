import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withClient } from '../src/cli/client.ts';
import { readEnvironment } from '../src/config/env.ts';
import { resolvePaths } from '../src/config/paths.ts';
import { newRequestId } from '../src/core/ids.ts';
import { PROTOCOL_VERSION } from '../src/protocol/versions.ts';
import { type BenchInstallation, inheritedPath, installForBench, residentMib } from './machine.ts';
import { race, row, runProcess, type Spread, spreadOf } from './measure.ts';
import { startNoopDaemon } from './noop-daemon.ts';

const ROUNDS = Number(process.argv[2] ?? 40);
const LINK = '.claude/tools/safe_bash/safe_bash';

interface Report {
  wholeProcess: Record<string, Spread>;
  openChannel: { call: Spread; stepsUs: Record<string, number> };
  throughput: { calls: number; atOnce: number; lost: number; perSecond: number };
  daemon: { readyMs: Spread; idleRssMib: number | null };
  proxyRssMib: number | null;
}

/** Everything in one run, each beside what a user would pick instead. */
async function main(): Promise<void> {
  const at = await installForBench({ 'log.level': 'debug' });
  try {
    const report: Report = {
      wholeProcess: await measureProcesses(at),
      openChannel: await measureOpenChannel(at),
      throughput: await measureThroughput(at),
      daemon: await measureDaemon(at),
      proxyRssMib: await measureProxyMemory(at),
    };
    print(report);
    const results = join(at.root, 'bench/results');
    mkdirSync(results, { recursive: true });
    writeFileSync(join(results, 'latest.json'), `${JSON.stringify(report, null, 2)}\n`);
    process.stdout.write(`\nwritten to ${join(results, 'latest.json')}\n`);
  } finally {
    await at.remove();
  }
}

async function measureProcesses(at: BenchInstallation): Promise<Record<string, Spread>> {
  const noop = await startNoopDaemon(at);
  const call = { cwd: at.project, env: at.env };
  const systemNode = {
    env: {
      PATH: inheritedPath()
        .split(':')
        .filter((dir) => !dir.includes('node_modules'))
        .join(':'),
    },
  };
  try {
    const results = await race(
      [
        { name: 'bash -c true', once: async () => void (await runProcess('bash', ['-c', 'true'])) },
        {
          name: 'bwrap --ro-bind / / true',
          once: async () => void (await runProcess('bwrap', ['--ro-bind', '/', '/', '--unshare-all', 'true'])),
        },
        { name: 'node -e 0 (Node 24)', once: async () => void (await runProcess(process.execPath, ['-e', '0'])) },
        {
          name: "node -e 0 (the machine's)",
          once: async () => void (await runProcess('node', ['-e', '0'], systemNode)),
        },
        {
          name: 'proxy alone, handler does nothing',
          once: async () => void (await runProcess(LINK, ['{}'], { cwd: noop.project, env: noop.env })),
        },
        { name: 'safe_bash true', once: async () => void (await runProcess(LINK, ['{"command":"true"}'], call)) },
      ],
      ROUNDS,
    );
    return Object.fromEntries(results);
  } finally {
    await noop.stop();
  }
}

async function measureOpenChannel(at: BenchInstallation): Promise<Report['openChannel']> {
  writeFileSync(join(at.project, 'small.txt'), 'one\ntwo\nthree\n');
  const paths = resolvePaths({ ...readEnvironment(), contextdHome: at.home }, at.root);
  const { signal } = new AbortController();
  const samples: number[] = [];
  await withClient(paths, async (client) => {
    for (let i = -20; i < ROUNDS * 5; i++) {
      const context = {
        request_id: newRequestId(Date.now()),
        project_root: at.project,
        session_id: 'bench',
        protocol_version: PROTOCOL_VERSION,
      };
      const start = performance.now();
      const input = Buffer.from('{"path":"small.txt"}');
      const response = await client.execute({ tool: 'safe_read', input_json: input, context }, signal);
      if (response.exit_code !== 0) throw new Error(response.error_line);
      if (i >= 0) samples.push(performance.now() - start);
    }
  });
  return { call: spreadOf(samples), stepsUs: readSteps(at, samples.length) };
}

/** Medians of the microseconds that the daemon logged for each step of the last calls. */
function readSteps(at: BenchInstallation, calls: number): Record<string, number> {
  const lines = readFileSync(join(at.home, 'state/daemon.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"call.answered"'))
    .slice(-calls)
    .map((line): Record<string, unknown> => JSON.parse(line));
  const names = Object.keys(lines.at(-1) ?? {}).filter((name) => name.endsWith('_us'));
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -3), spreadOf(lines.map((line) => Number(line[name] ?? 0))).medianMs]),
  );
}

async function measureThroughput(at: BenchInstallation): Promise<Report['throughput']> {
  const calls = 200;
  const atOnce = 16;
  const queue = Array.from({ length: calls }, (_, i) => i);
  let lost = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
        const line = await runProcess(LINK, [`{"command":"echo ${i}"}`], { cwd: at.project, env: at.env });
        if (!line.includes(`"stdout":"${i}\\n"`)) lost++;
      }
    }),
  );
  return { calls, atOnce, lost, perSecond: Math.round((calls / (performance.now() - start)) * 1000) };
}

async function measureDaemon(at: BenchInstallation): Promise<Report['daemon']> {
  const samples: number[] = [];
  for (let i = 0; i < 7; i++) {
    await at.ctxd('server', 'stop');
    samples.push(await startDaemon(at));
  }
  await at.ctxd('server', 'stop');
  await startDaemon(at);
  const { pid } = JSON.parse(await at.ctxd('server', 'status', '--json'));
  return { readyMs: spreadOf(samples), idleRssMib: residentMib(pid, 'VmRSS') };
}

/** Milliseconds from spawn until the daemon logs that it is ready to answer. */
function startDaemon(at: BenchInstallation): Promise<number> {
  const start = performance.now();
  const child = spawn(join(at.root, 'bin/contextd'), ['serve', '--foreground'], {
    cwd: '/',
    env: at.env,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    let seen = '';
    child.stderr.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      if (!seen.includes('"daemon.ready"')) return;
      resolve(performance.now() - start);
      child.stderr.removeAllListeners('data').resume();
      child.unref();
    });
    child.on('exit', () => reject(new Error(`the daemon did not start: ${seen}`)));
  });
}

async function measureProxyMemory(at: BenchInstallation): Promise<number | null> {
  const proxy = spawn(LINK, ['{"command":"echo begun > begun; sleep 1"}'], {
    cwd: at.project,
    env: at.env,
    stdio: 'ignore',
  });
  const done = new Promise((resolve) => proxy.on('exit', resolve));
  while (!readdirSync(at.project).includes('begun')) await new Promise((resolve) => setTimeout(resolve, 10));
  const resident = residentMib(proxy.pid ?? 0, 'VmHWM');
  await done;
  return resident;
}

function print(report: Report): void {
  const besides = report.wholeProcess['node -e 0 (Node 24)'];
  const out = [
    '',
    `${'whole processes, ms'.padEnd(44)} ${'median'.padStart(9)} ${'p99'.padStart(9)} ${'÷ node24'.padStart(8)}`,
  ];
  for (const [name, spread] of Object.entries(report.wholeProcess)) out.push(row(name, spread, besides));
  out.push(
    '',
    'over an open channel, ms',
    row('safe_read of a small file, nine steps', report.openChannel.call, undefined),
  );
  for (const [step, us] of Object.entries(report.openChannel.stepsUs))
    out.push(`  ${step.padEnd(42)} ${(us / 1000).toFixed(2).padStart(9)}`);
  const { throughput, daemon } = report;
  out.push(
    '',
    `${throughput.calls} calls, ${throughput.atOnce} at a time: ${throughput.lost} lost, ${throughput.perSecond} per second`,
  );
  out.push(row('daemon ready, ms', daemon.readyMs, undefined));
  out.push(`daemon resident when idle: ${daemon.idleRssMib} MiB; proxy at most: ${report.proxyRssMib} MiB`);
  process.stdout.write(`${out.join('\n')}\n`);
}

await main();
