import type { ToolProfile } from '../core/profile.ts';
import type { SandboxPolicy, SeccompToggles } from '../sandbox/sandbox.ts';

const MIB = 1024 * 1024;

/** What holds for the tool's own process and for the commands it runs. */
export interface ToolPolicies {
  process: SandboxPolicy;
  command: SandboxPolicy;
}

/**
 * The policy of a project as a tool's profile narrows it. A profile that asks for more than the configuration allows
 * gets what the configuration allows. The process keeps unix sockets: its connection to the daemon is one.
 */
export function narrowPolicy(policy: SandboxPolicy, profile: ToolProfile): ToolPolicies {
  const { memoryMb, pids, cpus } = profile.limits;
  const command: SandboxPolicy = {
    ...policy,
    minIsolation: profile.minIsolation === 'full' ? 'full' : policy.minIsolation,
    seccomp: narrowToggles(policy.seccomp, profile),
    limits: {
      ...policy.limits,
      memoryBytes: Math.min(policy.limits.memoryBytes, memoryMb === undefined ? Infinity : memoryMb * MIB),
      pids: Math.min(policy.limits.pids, pids ?? Infinity),
      cpus: leastCpus(policy.limits.cpus, cpus ?? 0),
    },
  };
  return { command, process: { ...command, seccomp: { ...command.seccomp, unix: true } } };
}

function narrowToggles(standard: SeccompToggles, { seccomp }: ToolProfile): SeccompToggles {
  return {
    inet: standard.inet && !seccomp.includes('no-inet'),
    unix: standard.unix && !seccomp.includes('no-unix'),
    debugger: standard.debugger || seccomp.includes('debugger'),
  };
}

/** 0 is no limit. */
function leastCpus(a: number, b: number): number {
  if (a === 0 || b === 0) return Math.max(a, b);
  return Math.min(a, b);
}

/** Tools of one bundle share a process when this is the same for them. */
export function profileKey({ entry, minIsolation, seccomp, limits }: ToolProfile): string {
  const { memoryMb, pids, cpus } = limits;
  return JSON.stringify([entry, minIsolation, [...seccomp].sort(), memoryMb, pids, cpus]);
}
