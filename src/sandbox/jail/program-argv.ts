import { join } from 'node:path';
import type { SandboxProgram } from '../contract/sandbox.ts';

/** The command line of a tool process. `places`: where the sandbox has Node, the bundle and the SDK. */
export function argvOf(
  { runtime, entry, args }: SandboxProgram,
  places: { node: string; bundle: string; sdk: string },
): string[] {
  const program = join(places.bundle, entry);
  switch (runtime) {
    case 'node':
      return [places.node, program, ...args];
    case 'plugin':
      return [program, ...args];
    case 'exec':
      return [places.node, join(places.sdk, 'exec.js'), program, ...args];
  }
}
