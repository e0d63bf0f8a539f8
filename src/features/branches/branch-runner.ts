import type { ToolBackend } from '../../runner/runner.ts';
import { withLaterFacts } from '../../runner/tool-run.ts';
import type { Branches } from './branches.ts';

/** A runner that keeps the files of a branch from being merged while a call works on them, and reports what a merge changed. */
export function holdFiles(runner: ToolBackend, branches: Pick<Branches, 'hold' | 'takeChanges'>): ToolBackend {
  return {
    start: () => runner.start(),
    stop: () => runner.stop(),
    async run(call) {
      if (call.effects.session !== 'return') {
        const release = branches.hold(call.session, call.requestId);
        try {
          return await runner.run(call);
        } finally {
          release();
        }
      }
      const ran = await runner.run(call);
      return withLaterFacts(ran, async () => ({ fileChanges: branches.takeChanges(call.requestId) }));
    },
  };
}
