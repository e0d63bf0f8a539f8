import type { SessionRef } from '../../call/session.ts';
import type { ToolBackend } from '../../runner/runner.ts';
import { withLaterFacts } from '../../runner/tool-run.ts';
import type { WorkspaceView } from '../../sandbox/contract/policy.ts';
import { findCutFiles } from './cut-files.ts';
import type { Undo } from './undo.ts';

/**
 * A runner whose calls report what they did to files, so that it can be undone. A call in a branch with files of its own
 * changes nothing of the base: its changes are undone by not merging them. What the host changes for a call is recorded as it is
 * made.
 */
export function watchFiles(
  runner: ToolBackend,
  undo: Pick<Undo, 'before' | 'after' | 'changesOf'>,
  viewOf: (session: SessionRef) => Pick<WorkspaceView, 'layer'>,
  fileMaxBytes: number,
): ToolBackend {
  return {
    start: () => runner.start(),
    stop: () => runner.stop(),
    async run(call) {
      const { effects, requestId, tool } = call;
      const { project, session } = call.session;
      if (effects.files !== 'write') return runner.run(call);
      // Throws for a branch whose files are closed.
      if (viewOf(call.session).layer !== null || effects.session === 'return') return runner.run(call);
      if (effects.session === 'restore')
        return withLaterFacts(await runner.run(call), async () => ({
          fileChanges: await undo.changesOf(project, requestId),
        }));
      const watched = await undo.before(project, { requestId, tool, session }, JSON.stringify([call.input, call.cwd]));
      if (watched === null) return runner.run(call);
      const ran = await runner.run(call);
      return withLaterFacts(ran, async () => {
        const fileChanges = await undo.after(project, watched);
        const isKnown = ran.facts.denied.some(({ kind }) => kind === 'file_size');
        return { fileChanges, denied: isKnown ? [] : findCutFiles(project, watched.changed, fileMaxBytes) };
      });
    },
  };
}
