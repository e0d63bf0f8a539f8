import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import type { Sandbox } from '#src/sandbox/contract/sandbox.js';

/** Each command continues the search for at least five milliseconds. */
const ROUNDS = 10;

/** An answer may go out before the search of the workspace is complete; harmless calls let the search continue. */
export async function settle(sandbox: Sandbox, policy: SandboxPolicy): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const watch = await sandbox.watch(policy).catch(() => null);
    await watch?.finish().catch(() => []);
  }
}
