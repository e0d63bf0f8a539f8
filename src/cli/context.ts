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

/** What a command is given of the world. */
export interface CliContext extends Streams {
  env: Environment;
  paths: Paths;
  /** Of the installed package. */
  version: string;
  /** Absolute. */
  cwd: string;
  /** Aborted by SIGINT and SIGTERM: the command gives up what it waits for. */
  signal: AbortSignal;
}

/** The world as it is. Throws PATH_INVALID when no usable paths follow from the environment. */
export function createContext(streams: Streams, cwd: string, signal: AbortSignal): CliContext {
  const env = readEnvironment();
  const installRoot = findInstallRoot();
  return { ...streams, env, paths: resolvePaths(env, installRoot), version: readVersion(installRoot), cwd, signal };
}
