import type { Sandbox, SandboxPolicy } from '#src/sandbox/sandbox.js';

/** Each goes on with the search for at least five milliseconds. */
const ROUNDS = 10;

/** An answer may leave before a workspace is searched to the end; honest calls go on with it. */
export async function settle(sandbox: Sandbox, policy: SandboxPolicy): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const watch = await sandbox.watch(policy).catch(() => null);
    await watch?.finish().catch(() => []);
  }
}
