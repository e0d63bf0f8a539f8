import { readlinkSync } from 'node:fs';
import { Jail } from '../bubblewrap.ts';
import { coverProc, type Host } from '../host.ts';
import type { Identity } from '../identity.ts';
import { type LaunchRequest, prepareLaunch } from '../launch.ts';
import { closeNamespace, type LoopbackNamespace, makeLoopbackNamespace } from '../network.ts';
import { buildEnvironment, planTree } from '../policy.ts';
import type { SandboxLimits } from '../sandbox.ts';
import { explainFailure, isFilterRefused } from './failures.ts';
import type { Trial, TrialFindings } from './ladder.ts';
import type { Shortfall } from './remedies.ts';

/** What a trial needs of a host. */
export type TrialHost = Pick<Host, 'bubblewrap' | 'cgroups' | 'strayFds' | 'base'>;

const TRIAL_LIMITS: SandboxLimits = {
  memoryBytes: 256 * 1024 * 1024,
  pids: 32,
  fileBytes: 1024 * 1024,
  openFiles: 256,
  cpus: 0,
};
const SAID_MAX_CHARS = 16 * 1024;

/** Prints what it sees of itself, and tries the one thing that must fail. */
const TRIAL_SCRIPT = `
readlink /proc/self/ns/user /proc/self/ns/pid /proc/self/ns/net /proc/self/ns/mnt /proc/self/ns/ipc /proc/self/ns/uts /proc/self/ns/cgroup
grep ^Seccomp: /proc/self/status
unshare --user true 2>/dev/null && echo nestable
true
`;

/** Runs a sandbox with every flag and the filter; if only the filter is refused, runs it again without. */
export async function tryOut(host: TrialHost, identity: Identity, seccompFile: string | null): Promise<Trial> {
  const first = await tryOnce(host, identity, seccompFile);
  if (first.ran || seccompFile === null || !isFilterRefused(first.failure)) return first;
  const second = await tryOnce(host, identity, null);
  return second.ran ? { ...second, refusedFilter: true } : second;
}

/** Whether sandboxes can join a namespace: the same sandbox again, in a namespace that was made for the trial. */
async function tryToJoin(host: TrialHost, identity: Identity, seccompFile: string | null): Promise<Shortfall | null> {
  try {
    const namespace = await makeLoopbackNamespace(host.bubblewrap.path);
    try {
      const { ran, said, failure } = await runScript(host, identity, seccompFile, namespace);
      if (!ran) return explainFailure(failure);
      return said.includes(namespace.name) ? null : explainFailure('a sandbox did not join the namespace');
    } finally {
      closeNamespace(namespace);
    }
  } catch (cause) {
    return explainFailure(cause instanceof Error ? cause.message : String(cause));
  }
}

async function tryOnce(host: TrialHost, identity: Identity, seccompFile: string | null): Promise<Trial> {
  try {
    const { ran, said, failure } = await runScript(host, identity, seccompFile, null);
    if (!ran) return { ran, failure };
    const unshared = await tryToJoin(host, identity, seccompFile);
    return { ran, findings: readFindings(said, ownNamespaces()), refusedFilter: false, unshared };
  } catch (cause) {
    return { ran: false, failure: String(cause) };
  }
}

async function runScript(
  host: TrialHost,
  identity: Identity,
  seccompFile: string | null,
  network: LoopbackNamespace | null,
): Promise<{ ran: boolean; said: string; failure: string }> {
  const group = host.cgroups?.create(TRIAL_LIMITS) ?? null;
  const launch = prepareTrial(host, identity, { seccompFile, network, group });
  try {
    const jail = new Jail(launch, ['ignore', 'pipe', 'pipe']);
    const [said, failure] = [collect(jail.child.stdout), collect(jail.child.stderr)];
    const exit = await jail.ended;
    const outcome = { ran: exit.ran && exit.code === 0, said: await said, failure: await failure };
    await jail.gone;
    return outcome;
  } finally {
    launch.release();
    if (group !== null) host.cgroups?.remove(group);
  }
}

function prepareTrial(
  host: TrialHost,
  identity: Identity,
  { seccompFile, network, group }: Pick<LaunchRequest, 'seccompFile' | 'network' | 'group'>,
): ReturnType<typeof prepareLaunch> {
  return prepareLaunch({
    bubblewrap: host.bubblewrap,
    strayFds: host.strayFds,
    identity,
    workspace: null,
    network,
    mounts: planTree({
      base: host.base(),
      writable: [],
      roPaths: [],
      toolchains: [],
      protectedMounts: [],
      proc: coverProc(identity),
      program: [],
      isWatched: host.cgroups === null,
    }),
    env: buildEnvironment([]),
    callerEnv: {},
    enter: [],
    links: [],
    cwd: '/',
    argv: ['sh', '-c', TRIAL_SCRIPT],
    limits: TRIAL_LIMITS,
    group,
    firstFreeFd: 3,
    wallMs: 0,
    seccompFile,
  });
}

/** Everything the stream holds, to its end. */
function collect(stream: NodeJS.ReadableStream | null): Promise<string> {
  if (stream === null) return Promise.resolve('');
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      if (text.length < SAID_MAX_CHARS) text += chunk.toString();
    });
    stream.once('error', () => resolve(text));
    stream.once('close', () => resolve(text));
  });
}

const NAMESPACES = ['user', 'pid', 'net', 'mnt', 'ipc', 'uts', 'cgroup'] as const;

/** The namespaces of this process, for example `pid:[4026531836]`. */
function ownNamespaces(): string[] {
  return NAMESPACES.flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/ns/${name}`)];
    } catch {
      return [];
    }
  });
}

/** Pure: compares what the script printed with the namespaces outside. */
export function readFindings(said: string, outside: readonly string[]): TrialFindings {
  const lines = said.split('\n').map((line) => line.trim());
  const inside = lines.filter((line) => /^\w+:\[\d+\]$/.test(line));
  return {
    ownNamespaces: NAMESPACES.filter((name) =>
      inside.some((line) => line.startsWith(`${name}:`) && !outside.includes(line)),
    ),
    filtered: lines.some((line) => /^Seccomp:\s+2$/.test(line)),
    nestable: lines.includes('nestable'),
  };
}
