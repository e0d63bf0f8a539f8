import { join } from 'node:path';
import type { SandboxProgram } from '../contract/sandbox.ts';

/**
 * Of a process that lives as long as the daemon, which has the same: after some long outputs V8 would keep 128 MB for young
 * objects.
 */
const NODE_FLAGS = ['--max-semi-space-size=8'];

/** The command line of a tool process. `places`: where the sandbox has Node, the bundle and the SDK. */
export function argvOf(
  { runtime, entry, args }: SandboxProgram,
  places: { node: string; bundle: string; sdk: string },
): string[] {
  const program = join(places.bundle, entry);
  switch (runtime) {
    case 'node':
      return [places.node, ...NODE_FLAGS, program, ...args];
    case 'plugin':
      return [program, ...args];
    case 'exec':
      return [places.node, ...NODE_FLAGS, join(places.sdk, 'exec.js'), program, ...args];
  }
}
