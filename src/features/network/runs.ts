import type { RunnerDeps } from '../../runner/runner.ts';
import type { CommandResult, RunRef } from '../../sandbox/contract/command.ts';
import type { InheritableSandbox, Resuming } from '../../sandbox/contract/heritage.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import type { Network } from './network.ts';

type FollowedRuns = Pick<Sandbox, 'run' | 'begin' | 'open'> & Pick<RunnerDeps['sandbox'], 'watch'> & Resuming;

/** What runs commands, with their connections followed: `network` learns when each begins and ends. */
export function followRuns(
  sandbox: Pick<InheritableSandbox, 'run' | 'begin' | 'open' | 'watch' | 'heritage'>,
  network: Pick<Network, 'began' | 'beganTool' | 'explained' | 'isOn'>,
): FollowedRuns {
  const follow = async (
    { workspace, networkTool }: Pick<SandboxPolicy, 'networkTool'> & { readonly workspace: { readonly path: string } },
    run: RunRef | undefined,
    ended: () => Promise<CommandResult>,
  ): Promise<CommandResult> => {
    const end = network.began(workspace.path, run);
    try {
      const result = await ended();
      const isOff = waitedInVain(result) && !network.isOn(workspace.path);
      return {
        ...result,
        notices: isOff ? [...result.notices, NETWORK_OFF] : result.notices,
        denied: network.explained({ project: workspace.path, tool: networkTool ?? null }, result.denied),
      };
    } finally {
      end();
    }
  };
  return {
    open: (policy, program) => sandbox.open(policy, program),
    async watch(policy) {
      const watch = await sandbox.watch(policy);
      const tool = policy.networkTool;
      if (tool === undefined) return watch;
      const refused = network.beganTool({ project: policy.workspace.path, tool });
      const finish = async () => {
        try {
          return await watch.finish();
        } finally {
          refused.end();
        }
      };
      return { finish: async () => ({ ...(await finish()), denied: refused.denied }) };
    },
    run: (policy, command) => follow(policy, command.run, () => sandbox.run(policy, command)),
    begin(policy, command, onFound) {
      const steered = sandbox.begin(policy, command, onFound);
      return { ...steered, ended: follow(policy, command.run, () => steered.ended) };
    },
    resume(project, resumed, onFound) {
      if (sandbox.heritage === undefined) throw new Error('no run goes on here');
      const steered = sandbox.heritage.resume(resumed, onFound);
      return { ...steered, ended: follow({ workspace: { path: project } }, resumed.run, () => steered.ended) };
    },
  };
}

/**
 * Without a network nothing sees what a command tries to reach. Package managers try again for minutes, so a command that
 * ran out of time without being busy may have waited for it.
 */
function waitedInVain({ endedBy, activity }: CommandResult): boolean {
  return endedBy === 'timeout' && (activity === null || activity.kind === 'network' || activity.kind === 'other');
}

const NETWORK_OFF =
  'the network of this project is off: if the command waited for it, a person can turn it on with `ctxd network on`';
