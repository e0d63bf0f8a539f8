import { availableParallelism } from 'node:os';
import type { Config } from '../config/schema.ts';
import type { SandboxPolicy } from '../sandbox/sandbox.ts';

const MIB = 1024 * 1024;
/** Bytes of the largest file that a tool may write. */
const FILE_MAX_BYTES = 1024 * MIB;
/** The most open files of one process in a sandbox. */
const OPEN_FILES = 1024;

/** Processors for one sandbox if a person set none: all but one, or three quarters if there are at most four. */
export function defaultCpus(processors: number): number {
  return Math.max(processors - 1, processors * 0.75);
}

/** The policy of every core tool: the project root and what a person listed. No call can widen it. */
export function policyFor(projectRoot: string, config: Config['sandbox']): SandboxPolicy {
  return {
    workspace: projectRoot,
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
