import type { SessionRef } from '../call/session.ts';
import type { PluginProgram } from '../call/tool-program.ts';
import { ContextdError } from '../core/errors.ts';
import type { ToolProfile } from '../core/profile.ts';
import { createCertificate } from '../protocol/plugin/certificate.ts';
import { loadPluginProtocol } from '../protocol/plugin/load-plugin-protocol.ts';
import type { SandboxPolicy, SeccompToggles, WorkspaceView } from '../sandbox/contract/policy.ts';
import {
  type PluginCall,
  RUNNER_DEFAULTS,
  type RunnerDeps,
  type ToolAccess,
  type ToolBackend,
  type ToolNetwork,
} from './runner.ts';
import { failedRun } from './tool-run.ts';
import { type SlotDeps, type ToolPolicies, ToolSlot } from './tool-slot.ts';

const MIB = 1024 * 1024;

/**
 * The backend for plugin processes. Starts a process for the first call that needs it; calls with the same `processKey`
 * share it.
 */
export function createRunner(deps: RunnerDeps): ToolBackend<PluginProgram> {
  const slots = new Map<string, ToolSlot>();
  const slotDeps = makeOnce(deps);
  let isStopped = false;
  const slotOf = (call: PluginCall): ToolSlot => {
    const network = deps.toolNetworkFor?.(call) ?? NO_NETWORK;
    const access = call.origin === 'core' ? NO_ACCESS : (deps.toolAccessFor?.(call) ?? NO_ACCESS);
    const hold = isHeld(call) ? { isWorkspaceReadOnly: true as const } : {};
    // Anything specific to a session or a project is for commands of core tools only.
    const ownPolicyFor = (session: SessionRef): SandboxPolicy =>
      widenPolicy({ ...deps.policyFor(session), ...network, ...hold }, access);
    // A call that ends the files of its branch does not run on them.
    const session = call.effects.session === 'return' ? { ...call.session, branch: null } : call.session;
    const key = processKey(call, ownPolicyFor(session).workspace.layer, network, access);
    const known = slots.get(key);
    if (known !== undefined) return known;
    const { profile } = call.program;
    const commandPolicyFor = call.origin === 'core' ? deps.commandPolicyFor : ownPolicyFor;
    const policies: ToolPolicies = {
      process: processPolicy(ownPolicyFor(session), profile),
      commandFor: (session) => narrowPolicy(commandPolicyFor(session), profile),
    };
    const slot = new ToolSlot({ ...call, variables: access.variables }, policies, slotDeps(), () => slots.delete(key));
    slots.set(key, slot);
    return slot;
  };
  return {
    async start() {
      isStopped = false;
    },
    async stop() {
      isStopped = true;
      await Promise.all([...slots.values()].map((slot) => slot.stop()));
      slots.clear();
    },
    async run(call) {
      if (isStopped) return failedRun(new ContextdError('INTERRUPTED', `contextd stopped before ${call.tool} began`));
      try {
        return await slotOf(call).run(call);
      } catch (thrown) {
        return failedRun(thrown);
      }
    },
  };
}

const NO_NETWORK: ToolNetwork = { network: 'none' };
const NO_ACCESS: ToolAccess = { paths: [], variables: {}, limits: {} };

/**
 * True for an installed tool that declares that it writes no project files: it gets them read-only. The core tools
 * share one process, which writes.
 */
function isHeld({ origin, effects }: PluginCall): boolean {
  return origin !== 'core' && effects.files !== 'write';
}

/** Adds a person's grants to the tool. The tool's profile narrows the policy again. */
function widenPolicy(policy: SandboxPolicy, { paths, limits }: ToolAccess): SandboxPolicy {
  return {
    ...policy,
    ...(paths.length === 0 ? {} : { toolPaths: paths }),
    limits: {
      ...policy.limits,
      memoryBytes: Math.max(policy.limits.memoryBytes, limits.memoryBytes ?? 0),
      pids: Math.max(policy.limits.pids, limits.pids ?? 0),
    },
  };
}

/** State shared by all processes, created on first use. */
function makeOnce(deps: RunnerDeps): () => SlotDeps {
  const config = { ...RUNNER_DEFAULTS, ...deps.config };
  let made: SlotDeps | undefined;
  return () => {
    made ??= { ...deps, config, protocol: loadPluginProtocol(), certificate: createCertificate(deps.clock.now()) };
    return made;
  };
}

/**
 * Calls with the same key share a process. A process has one layer of the workspace mounted, so the layer is always
 * part of the key: a call on a branch's own files can never reach a process that writes the base. On the base, a core
 * tool's process serves every session of the project and its branches. An installed tool must not see two sessions, so
 * its key includes the session and the branch. A tool with its own network shares no process with another tool, and
 * gets a new one when its network is switched on or off.
 */
function processKey(call: PluginCall, layer: WorkspaceView['layer'], own: ToolNetwork, access: ToolAccess): string {
  const { session, tool, origin } = call;
  const { bundleDir, profile } = call.program;
  const { project, branch } = session;
  const owner = origin === 'core' ? null : [session.session, branch];
  const program = profile.runtime === 'exec' ? tool : null;
  return JSON.stringify([
    project,
    owner,
    layer,
    bundleDir,
    program,
    origin,
    isHeld(call),
    profileKey(profile),
    own,
    access,
  ]);
}

/** Tools of one bundle share a process only if their profile keys are equal. */
export function profileKey({ runtime, entry, minIsolation, seccomp, limits }: ToolProfile): string {
  const { memoryMb, pids, cpus } = limits;
  return JSON.stringify([runtime, entry, minIsolation, [...seccomp].sort(), memoryMb, pids, cpus]);
}

/** Narrows a policy to a tool's profile. A profile that asks for more gets what the configuration allows. */
export function narrowPolicy(policy: SandboxPolicy, profile: ToolProfile): SandboxPolicy {
  const { memoryMb, pids, cpus } = profile.limits;
  return {
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
}

/** The narrowed policy of the tool's own process. Keeps unix sockets, because its connection to the daemon is one. */
export function processPolicy(policy: SandboxPolicy, profile: ToolProfile): SandboxPolicy {
  const narrowed = narrowPolicy(policy, profile);
  return { ...narrowed, seccomp: { ...narrowed.seccomp, unix: true } };
}

function narrowToggles(standard: SeccompToggles, { seccomp }: ToolProfile): SeccompToggles {
  return {
    inet: standard.inet && !seccomp.includes('no-inet'),
    unix: standard.unix && !seccomp.includes('no-unix'),
    debugger: standard.debugger || seccomp.includes('debugger'),
  };
}

/** 0 means no limit. */
function leastCpus(a: number, b: number): number {
  if (a === 0 || b === 0) return Math.max(a, b);
  return Math.min(a, b);
}
