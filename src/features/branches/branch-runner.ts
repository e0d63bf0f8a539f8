import type { FileChanges } from '../../call/outcome.ts';
import type { ToolBackend } from '../../runner/runner.ts';
import { withLaterFacts } from '../../runner/tool-run.ts';
import type { Branches } from './branches.ts';

/** What a call asks of branches. The changes of a merge may be known to the next daemon only. */
export interface CallFiles extends Pick<Branches, 'hold'> {
  takeChanges(requestId: string): FileChanges | null | Promise<FileChanges | null>;
}

/** A runner that keeps the files of a branch from being merged while a call works on them, and reports what a merge changed. */
export function holdFiles(runner: ToolBackend, branches: CallFiles): ToolBackend {
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
      return withLaterFacts(ran, async () => ({ fileChanges: await branches.takeChanges(call.requestId) }));
    },
  };
}
