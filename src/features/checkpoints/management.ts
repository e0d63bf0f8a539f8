import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import type { Json } from '../../core/json.ts';
import type { CheckpointItem__Output as CheckpointItem } from '../../protocol/generated/management.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import { maskAlone, maskOwnWords } from '../shared/kept-text.ts';
import { filesOf, levelOf, readNew } from './checkpoint-services.ts';
import type { StoredHead } from './checkpoint-store.ts';
import type { Checkpoints } from './checkpoints.ts';

export interface CheckpointManagementDeps {
  checkpoints: Checkpoints;
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'issuedIn' | 'forget'>;
  liveSessions: Pick<LiveSessions, 'idFor'>;
  clock: Clock;
}

type CheckpointManagement = Pick<
  RpcHandlers,
  'saveCheckpoint' | 'listCheckpoints' | 'readCheckpoint' | 'exportCheckpoint' | 'importCheckpoint'
>;

/** What a person may do with the checkpoints of a project, whatever session they belong to. */
export function createCheckpointManagement(deps: CheckpointManagementDeps): CheckpointManagement {
  const { checkpoints, scrubber, liveSessions } = deps;
  const sessionOf = ({ root, session }: { root: string; session: string }): SessionRef => ({
    project: root,
    session: liveSessions.idFor(root, session),
    branch: null,
  });
  return {
    async saveCheckpoint(request, record) {
      const session = sessionOf(request);
      const words = await maskOwnWords(session, { name: request.name, note: request.note }, scrubber);
      const head = await checkpoints.save(session, { ...readNew(words), cause: 'asked', requestId: '' });
      record.note({ session: head.session.session, input: { id: head.id } });
      return itemOf(head);
    },
    async listCheckpoints({ root, session }) {
      const all = await checkpoints.listProject(root);
      const asked = all.filter((head) => session === '' || head.session.session === session);
      return { checkpoints: await Promise.all(asked.map((head) => masked(head, scrubber))) };
    },
    async readCheckpoint({ root, id, level, files }, record) {
      const shown = await checkpoints.show(root, { id, level: levelOf(level), files: filesOf(files) });
      const applied = shown.files?.applied ?? { savedFirst: '', undo: '' };
      if (applied.undo !== '') record.note({ files_changed: { ref: applied.undo, count: shown.files?.changed ?? 0 } });
      const text = await maskOwnWords(shown.checkpoint.session, shown.text, scrubber);
      return {
        checkpoint: await masked({ ...shown.checkpoint, summary: '' }, scrubber),
        text,
        saved_first: applied.savedFirst,
        undone_by: applied.undo,
      };
    },
    async exportCheckpoint({ root, id }) {
      const { checkpoint, file } = await checkpoints.export(root, id, (value, issuer) =>
        maskAlone(root, value, deps, issuer),
      );
      return { checkpoint: itemOf({ ...checkpoint, summary: '' }), text: file, saved_first: '', undone_by: '' };
    },
    async importCheckpoint(request, record) {
      const mask = (value: Json) => maskAlone(request.root, value, deps);
      const head = await checkpoints.import(sessionOf(request), request.file, mask);
      record.note({ input: { id: head.id } });
      return itemOf(head);
    },
  };
}

/** Without secrets that became known since it was saved. */
async function masked(head: StoredHead, scrubber: CheckpointManagementDeps['scrubber']): Promise<CheckpointItem> {
  const item = itemOf(head);
  return { ...item, ...(await maskOwnWords(head.session, { name: item.name, summary: item.summary }, scrubber)) };
}

function itemOf({ id, session, name, cause, position, createdMs, summary }: StoredHead): CheckpointItem {
  return {
    id,
    session: session.session,
    branch: session.branch ?? '',
    name,
    cause,
    position,
    created_ms: createdMs,
    summary,
  };
}
