import { availableParallelism } from 'node:os';
import type { SessionRef } from '../../call/session.ts';
import { accessOf } from '../../catalog/grants.ts';
import type { Config } from '../../config/schema.ts';
import type { ToolAccess, ToolCall, ToolNetwork } from '../../runner/runner.ts';
import type { SandboxPolicy, WorkspaceView } from '../../sandbox/contract/policy.ts';
import type { Network } from '../network/network.ts';
import type { Outside } from './outside.ts';

const MIB = 1024 * 1024;
/** The most open files of one process in a sandbox. */
const OPEN_FILES = 1024;

/** Processors for one sandbox if a person set none: all but one, or three quarters if there are at most four. */
export function defaultCpus(processors: number): number {
  return Math.max(processors - 1, processors * 0.75);
}

/** The policy of every tool process: the workspace and what a person listed. No call can widen it. */
export function policyFor(workspace: WorkspaceView, config: Config['sandbox']): SandboxPolicy {
  return {
    workspace,
    network: 'none',
    roPaths: config.ro_paths,
    deny: config.deny,
    storage: null,
    minIsolation: config.min_isolation,
    seccomp: { inet: true, unix: true, debugger: false },
    limits: {
      memoryBytes: config.memory_mb * MIB,
      pids: config.pids,
      fileBytes: config.file_max_mb * MIB,
      openFiles: OPEN_FILES,
      cpus: config.cpus ?? defaultCpus(availableParallelism()),
    },
  };
}

/** The policy of the commands of `safe_bash`: what a tool process has, and what belongs to their session and project. */
export function commandPolicyFor(
  session: SessionRef,
  workspace: WorkspaceView,
  config: Config['sandbox'],
  outside: Pick<Outside, 'partsFor'>,
  network: Pick<Network, 'forCommands' | 'placeholdersFor'>,
): SandboxPolicy {
  const parts = { ...outside.partsFor(session.project), storage: { session: session.session } };
  const { hostNetwork } = parts;
  const variables = { ...hostNetwork.variables, ...network.placeholdersFor(session.project) };
  return {
    ...policyFor(workspace, config),
    ...network.forCommands(session.project),
    git: 'working',
    ...parts,
    hostNetwork: { ...hostNetwork, variables },
  };
}

/** The network of a tool with network grants. Its programs trust what the commands trust, and get nothing else of the host. */
export function toolNetworkFor(
  { session: { project }, tool, grants }: Pick<ToolCall, 'session' | 'tool' | 'grants'>,
  outside: Pick<Outside, 'partsFor'>,
  network: Pick<Network, 'forTool'>,
): ToolNetwork {
  const own = network.forTool(project, tool, grants);
  if (own.network === 'none') return own;
  const { certificates, caVariables } = outside.partsFor(project).hostNetwork;
  return { ...own, hostNetwork: { certificates, caVariables, variables: {}, homeFiles: [] } };
}

/** What the accepted grants of a tool allow besides the network. A variable that nobody set is left out. */
export function toolAccessFor(grants: readonly string[], { env }: Config['tools']): ToolAccess {
  const { paths, variables, limits } = accessOf(grants);
  const { memory_mb: memoryMb, pids } = limits;
  const set = variables.flatMap((name) => (Object.hasOwn(env, name) ? [[name, env[name] ?? '']] : []));
  return {
    paths,
    variables: Object.fromEntries(set),
    limits: {
      ...(memoryMb === undefined ? {} : { memoryBytes: memoryMb * MIB }),
      ...(pids === undefined ? {} : { pids }),
    },
  };
}
