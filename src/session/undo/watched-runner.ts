import type { SessionRef } from '../../call/session.ts';
import type { RunFacts } from '../../runner/call-facts.ts';
import type { Runner } from '../../runner/runner.ts';
import type { WorkspaceView } from '../../sandbox/sandbox-policy.ts';
import type { Undo } from './undo.ts';

/** Core tools that never write files of a project. */
const READERS: ReadonlySet<string> = new Set([
  ...['safe_read', 'tool_view', 'memory_search', 'memory_get', 'memory_store', 'memory_feedback'],
  ...['checkpoint_list', 'checkpoint_save'],
]);
/** A core tool whose changes are recorded as they are made. */
const RECORDS_ITSELF = 'checkpoint_restore';

/**
 * A runner whose calls report what they did to files, so that it can be undone. A call in a branch with files of its own
 * changes nothing of the base: its changes are undone by not merging them.
 */
export function watchFiles(
  runner: Runner,
  undo: Undo,
  viewOf: (session: SessionRef) => Pick<WorkspaceView, 'layer'>,
): Runner {
  return {
    start: () => runner.start(),
    stop: () => runner.stop(),
    async run(call) {
      const { project } = call.session;
      if (call.origin === 'core' && READERS.has(call.tool)) return runner.run(call);
      if (viewOf(call.session).layer !== null) return runner.run(call);
      const recordsItself = call.origin === 'core' && call.tool === RECORDS_ITSELF;
      const watched = recordsItself ? null : await undo.before(project);
      if (watched === null && !recordsItself) return runner.run(call);
      let facts: RunFacts | null = null;
      const onFacts = (found: RunFacts): void => {
        facts = found;
      };
      const [outcome] = await Promise.allSettled([runner.run({ ...call, onFacts })]);
      const {
        requestId,
        tool,
        session: { session },
      } = call;
      const fileChanges =
        watched === null
          ? await undo.changesOf(project, requestId)
          : await undo.after(project, watched, { requestId, tool, session });
      if (facts !== null) call.onFacts?.({ ...(facts as RunFacts), fileChanges });
      if (outcome.status === 'rejected') throw outcome.reason;
      return { ...outcome.value, fileChanges };
    },
  };
}
