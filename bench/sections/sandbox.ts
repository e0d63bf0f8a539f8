import { rmSync } from 'node:fs';
import { OTHER_UID } from '../lib/accounts.ts';
import { type Helper, startHelper } from '../lib/helper.ts';
import { inheritedPath } from '../lib/machine.ts';
import { type Contender, race, runProcess } from '../lib/measure.ts';
import { findPeer } from '../lib/peers.ts';
import { makeProject, openSandbox, type SandboxHost } from '../lib/sandbox-host.ts';
import { missingRow, type Outcome, type Row, rowsOf, type Section, type SectionOptions } from '../lib/section.ts';

const BARE = 'bash -c true, from a small process';
const READY = 'ours, pre-forked';
const COLD = 'ours, cold: nothing is pre-forked';
/** What a command of `safe_bash` gets: the loopback of its project instead of one of its own. */
const SHARED_READY = 'ours, pre-forked, shared loopback';
const SHARED_COLD = 'ours, cold, shared loopback';
const COLD_STDIN = 'ours, cold: stdin is given';

/** All namespaces, but only one bind mount: the command sees the whole host. */
const DIRECT = [
  'bwrap --die-with-parent --new-session --unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts',
  '--unshare-cgroup-try --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp -- bash -c true',
]
  .join(' ')
  .split(' ');

/** The sandbox engine alone, in its own process, compared with a bare spawn and other sandboxes. */
export const sandboxSection: Section = {
  async run(options) {
    const hosts = { pooled: await openSandbox({}), cold: await openSandbox({ preforked: 0 }) };
    const helper = await startHelper('./spawn-main.js', helperEnv());
    try {
      return await compare(hosts, helper, options);
    } finally {
      await helper.stop();
      await Promise.all([hosts.pooled.stop(), hosts.cold.stop()]);
    }
  },
};

interface Hosts {
  pooled: SandboxHost;
  cold: SandboxHost;
}

async function compare(hosts: Hosts, helper: Helper, options: SectionOptions): Promise<Outcome> {
  const own = makeProject();
  const given = process.getuid?.() === 0 ? makeProject(OTHER_UID) : null;
  const peers = await srtContenders(helper);
  const contenders = [
    ...bareContenders(helper),
    ...ourContenders(hosts, own, ''),
    ...(given === null ? [] : ourContenders(hosts, given, ", a user's project")),
    ...peers.contenders,
  ];
  try {
    const measured = await race(contenders, options.rounds);
    const aims = [
      { row: READY, atMost: 0.6, times: BARE },
      { row: COLD_STDIN, atMost: 3, times: BARE },
      { row: COLD, atMost: 3, times: BARE },
      { row: SHARED_READY, atMost: 1.1, times: READY },
      { row: SHARED_COLD, atMost: 1.1, times: COLD },
    ];
    const rows = [...rowsOf(measured), ...peers.missing];
    return { tables: [{ title: 'one command, ms', base: BARE, rows, aims }], facts: await describe(hosts.pooled, own) };
  } finally {
    await peers.stop();
    for (const project of [own, given]) if (project !== null) rmSync(project, { recursive: true, force: true });
  }
}

function bareContenders(helper: Helper): Contender[] {
  return [
    { name: BARE, once: () => helper.run(['bash', '-c', 'true']) },
    { name: 'bash -c true, from the hosting process', once: () => done(runProcess('bash', ['-c', 'true'])) },
    { name: 'bwrap, all namespaces, from a small process', once: () => helper.run(DIRECT) },
  ];
}

/** Each waits for the sandbox that replaces the one it used, so that the next contender does not pay for it. */
function ourContenders({ pooled, cold }: Hosts, project: string, suffix: string): Contender[] {
  const stdin = Buffer.from('x');
  return [
    { name: READY + suffix, once: () => done(pooled.runTrue(project)), after: () => pooled.refilled(project) },
    {
      name: COLD_STDIN + suffix,
      once: () => done(pooled.runTrue(project, stdin)),
      after: () => pooled.refilled(project),
    },
    { name: COLD + suffix, once: () => done(cold.runTrue(project)), after: () => cold.refilled(project) },
    {
      name: SHARED_READY + suffix,
      once: () => done(pooled.runTrue(project, undefined, 'project')),
      after: () => pooled.refilled(project),
    },
    {
      name: SHARED_COLD + suffix,
      once: () => done(cold.runTrue(project, undefined, 'project')),
      after: () => cold.refilled(project),
    },
  ];
}

interface PeerContenders {
  contenders: Contender[];
  missing: Row[];
  stop(): Promise<void>;
}

async function srtContenders(helper: Helper): Promise<PeerContenders> {
  const names = ['srt, library', 'srt, command line'];
  const { path, missing } = findPeer('srt');
  if (path === null)
    return { contenders: [], missing: names.map((name) => missingRow(name, missing)), async stop() {} };
  const [library = '', program = ''] = names;
  const host = await startHelper('./srt-main.js', helperEnv());
  return {
    contenders: [
      { name: library, once: () => host.run('true') },
      { name: program, once: () => helper.run([process.execPath, path, 'true']) },
    ],
    missing: [],
    stop: () => host.stop(),
  };
}

async function describe(host: SandboxHost, project: string): Promise<Outcome['facts']> {
  const { level, missing } = await host.sandbox.isolationFor(project);
  const { spawnerRssBytes, readyMax } = await host.sandbox.status();
  return [
    { name: 'isolation', value: missing.length === 0 ? level : `${level}; missing: ${missing.join(', ')}` },
    { name: 'memory of the spawner, MiB', value: Math.round(spawnerRssBytes / 1024 ** 2) },
    { name: 'most sandboxes kept ready', value: readyMax },
  ];
}

function helperEnv(): Record<string, string> {
  const { HOME = '/', LD_LIBRARY_PATH } = process.env;
  return { PATH: inheritedPath(), HOME, ...(LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH }) };
}

/** Returns undefined, so that the caller takes the time. */
async function done(work: Promise<unknown>): Promise<undefined> {
  await work;
}
