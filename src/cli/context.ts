import type { Readable, Writable } from 'node:stream';
import { type Environment, readEnvironment } from '../config/env.ts';
import { findInstallRoot, readVersion } from '../config/install-root.ts';
import { type Paths, resolvePaths } from '../config/paths.ts';

/** Where a command reads from and writes to. */
interface Streams {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
}

/** Everything that a command knows of its environment. */
export interface CliContext extends Streams {
  env: Environment;
  paths: Paths;
  /** Version of the installed package. */
  version: string;
  /** Absolute. */
  cwd: string;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. The command then stops waiting. */
  signal: AbortSignal;
}

/** The real environment. Throws PATH_INVALID if it does not lead to usable paths. */
export function createContext(streams: Streams, cwd: string, signal: AbortSignal): CliContext {
  const env = readEnvironment();
  const installRoot = findInstallRoot();
  return { ...streams, env, paths: resolvePaths(env, installRoot), version: readVersion(installRoot), cwd, signal };
}
