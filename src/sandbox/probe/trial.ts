import { readlinkSync } from 'node:fs';
import type { SandboxLimits } from '../contract/policy.ts';
import { type OwnProgramHost, runOwnProgram } from '../jail/own-program.ts';
import { explainFailure, isFilterRefused } from '../machine/failures.ts';
import type { Identity } from '../machine/identity.ts';
import { closeNamespace, type LoopbackNamespace, makeLoopbackNamespace } from '../machine/network.ts';
import type { Shortfall } from '../machine/remedies.ts';
import type { Trial, TrialFindings } from './ladder.ts';

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
export async function tryOut(host: OwnProgramHost, identity: Identity, seccompFile: string | null): Promise<Trial> {
  const first = await tryOnce(host, identity, seccompFile);
  if (first.ran || seccompFile === null || !isFilterRefused(first.failure)) return first;
  const second = await tryOnce(host, identity, null);
  return second.ran ? { ...second, refusedFilter: true } : second;
}

/** Whether sandboxes can join a namespace: the same sandbox again, in a namespace that was made for the trial. */
async function tryToJoin(
  host: OwnProgramHost,
  identity: Identity,
  seccompFile: string | null,
): Promise<Shortfall | null> {
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

async function tryOnce(host: OwnProgramHost, identity: Identity, seccompFile: string | null): Promise<Trial> {
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
  host: OwnProgramHost,
  identity: Identity,
  seccompFile: string | null,
  network: LoopbackNamespace | null,
): Promise<{ ran: boolean; said: string; failure: string }> {
  const { exit, stdout, stderr } = await runOwnProgram(host, {
    identity,
    network,
    seccompFile,
    argv: ['sh', '-c', TRIAL_SCRIPT],
    mounts: [],
    limits: TRIAL_LIMITS,
    wallMs: 0,
    outputMaxChars: SAID_MAX_CHARS,
  });
  // A process that a signal or a limit killed prints nothing.
  const failure = stderr.trim() === '' ? `it ended with ${exit.signal ?? `status ${exit.code}`}` : stderr;
  return { ran: exit.ran && exit.code === 0, said: stdout, failure };
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
