import type { CommandResult, RunRef, Sandbox } from '../sandbox/sandbox.ts';
import type { SandboxPolicy } from '../sandbox/sandbox-policy.ts';
import type { Network } from './network.ts';

/** What runs commands, with their connections followed: `network` learns when each begins and ends. */
export function followRuns(
  sandbox: Pick<Sandbox, 'run' | 'begin' | 'open' | 'watch'>,
  network: Pick<Network, 'began' | 'explained'>,
): Pick<Sandbox, 'run' | 'begin' | 'open' | 'watch'> {
  const follow = async (
    { workspace }: SandboxPolicy,
    run: RunRef | undefined,
    ended: () => Promise<CommandResult>,
  ): Promise<CommandResult> => {
    const end = network.began(workspace.path, run);
    try {
      const result = await ended();
      return { ...result, denied: network.explained(workspace.path, result.denied) };
    } finally {
      await end();
    }
  };
  return {
    open: (policy, program) => sandbox.open(policy, program),
    watch: (policy) => sandbox.watch(policy),
    run: (policy, command) => follow(policy, command.run, () => sandbox.run(policy, command)),
    begin(policy, command, onFound) {
      const steered = sandbox.begin(policy, command, onFound);
      return { ...steered, ended: follow(policy, command.run, () => steered.ended) };
    },
  };
}
