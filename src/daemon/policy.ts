import { availableParallelism } from 'node:os';
import type { SessionRef } from '../call/session.ts';
import type { Config } from '../config/schema.ts';
import type { SandboxPolicy, WorkspaceView } from '../sandbox/sandbox.ts';

const MIB = 1024 * 1024;
/** The largest file a tool may write, bytes. */
const FILE_MAX_BYTES = 1024 * MIB;
/** Open files of one process in a sandbox. */
const OPEN_FILES = 1024;

/**
 * Processors for one sandbox when a person set none: all but one, or all but a quarter of one or two, so that the daemon
 * and the person have the rest.
 */
export function defaultCpus(processors: number): number {
  return Math.max(processors - 1, processors * 0.75);
}

/** What a session sees of its project. The name of a branch is known in its session only. */
export function viewOf({ project, session, branch }: SessionRef): WorkspaceView {
  return { path: project, layer: branch === null ? null : JSON.stringify([session, branch]) };
}

/** The policy of every core tool: the workspace and what a person listed, nothing that a call could widen. */
export function policyFor(workspace: WorkspaceView, config: Config['sandbox']): SandboxPolicy {
  return {
    workspace,
    network: 'none',
    roPaths: config.ro_paths,
    deny: config.deny,
    minIsolation: config.min_isolation,
    seccomp: { inet: true, unix: true, debugger: false },
    limits: {
      memoryBytes: config.memory_mb * MIB,
      pids: config.pids,
      fileBytes: FILE_MAX_BYTES,
      openFiles: OPEN_FILES,
      cpus: config.cpus ?? defaultCpus(availableParallelism()),
    },
  };
}
