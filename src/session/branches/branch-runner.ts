import type { FileChanges } from '../../call/outcome.ts';
import type { RunFacts } from '../../runner/call-facts.ts';
import type { Runner } from '../../runner/runner.ts';
import { RETURN_TOOL } from './branch.ts';
import type { Branches } from './branches.ts';

/** A runner that keeps the files of a branch from being merged while a call works on them, and reports what a merge changed. */
export function holdFiles(runner: Runner, branches: Pick<Branches, 'hold' | 'takeChanges'>): Runner {
  return {
    start: () => runner.start(),
    stop: () => runner.stop(),
    async run(call) {
      if (call.origin !== 'core' || call.tool !== RETURN_TOOL) {
        const release = branches.hold(call.session);
        try {
          return await runner.run(call);
        } finally {
          release();
        }
      }
      const found: { facts?: RunFacts } = {};
      const onFacts = (facts: RunFacts): void => {
        found.facts = facts;
      };
      const [outcome] = await Promise.allSettled([runner.run({ ...call, onFacts })]);
      const changes: FileChanges | null = branches.takeChanges(call.requestId);
      const more = changes === null ? {} : { fileChanges: changes };
      if (found.facts !== undefined) call.onFacts?.({ ...found.facts, ...more });
      if (outcome.status === 'rejected') throw outcome.reason;
      return { ...outcome.value, ...more };
    },
  };
}
