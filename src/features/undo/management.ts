import type { AuditLog } from '../../audit/log.ts';
import type { Clock } from '../../core/clock.ts';
import { toText } from '../../fs/raw-path.ts';
import type {
  UndoCall__Output as WireCall,
  UndoPlan__Output as WirePlan,
} from '../../protocol/generated/management.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Chore } from '../shared/chores.ts';
import type { SurveyedCall } from './call-survey.ts';
import type { Undo, UndoPlan } from './undo.ts';
import { describe, lineOf, nameOfChange, worthNaming, worthShowing } from './undo-plan.ts';
import type { UndoRecord } from './undo-records.ts';

export interface UndoManagementDeps {
  undo: Pick<Undo, 'list' | 'plan' | 'apply' | 'forget' | 'prepare'>;
  auditLog: Pick<AuditLog, 'find'>;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
}

/** Calls of a list, and files of each. */
const LISTED_MAX = 100;
const LISTED_FILES_MAX = 20;
const CLEAN_EVERY_MS = 60 * 60 * 1000;

/** Forgets what is too old or too much. */
export function undoChore({
  undo,
  projects,
}: {
  readonly undo: Pick<Undo, 'clean'>;
  readonly projects: Pick<ProjectStore, 'list'>;
}): Chore {
  return {
    name: 'clean undo',
    everyMs: CLEAN_EVERY_MS,
    run: async () => undo.clean((await projects.list()).map(({ root }) => root)),
  };
}

/** How a person takes back what calls did to files. */
export function createUndoManagement(
  deps: UndoManagementDeps,
): Pick<RpcHandlers, 'listUndo' | 'planUndo' | 'undoChanges'> {
  return {
    async listUndo({ root }) {
      const calls = await deps.undo.list(root, LISTED_MAX);
      const recorded = await deps.auditLog.find(root, { requestIds: calls.map(({ requestId }) => requestId) });
      const inputs = new Map(recorded.map(({ request_id, input }) => [request_id, JSON.stringify(input)]));
      return { calls: calls.map((call) => wireCall(call, inputs.get(call.requestId) ?? '')) };
    },
    async planUndo({ root, which }) {
      return wireOf(await deps.undo.plan(root, which), null);
    },
    async undoChanges({ root, which, partial }, record) {
      const { undone, ...plan } = await deps.undo.apply(root, which, partial, record.requestId);
      const { ref } = plan.record;
      record.note({ input: { ref } });
      if (undone !== null)
        record.note({ files_changed: { ref: undone.ref, count: tellSession(root, ref, undone, deps) } });
      return wireOf(plan, undone);
    },
  };
}

/** Files that the event of an undo names. */
const FILES_NAMED = 5;

/** The log of the session whose call was taken back, because an agent must know. Returns the number of files. */
function tellSession(root: string, ref: string, undone: UndoRecord, { events, clock }: UndoManagementDeps): number {
  const changes = worthNaming(undone.changes);
  const count = changes.length;
  const names = changes.slice(0, FILES_NAMED).map(({ path }) => toText(path));
  events.append({
    session: { project: root, session: undone.session, branch: null },
    kind: 'undo',
    at: clock.now(),
    sensitivity: 'internal',
    text: `A person undid ${ref}: ${count === 1 ? '1 file was' : `${count} files were`} put back: ${names.join(', ')}${count > names.length ? ', …' : ''}`,
    facts: { action: 'undone', id: ref, requestId: '' },
    artifact: null,
  });
  return count;
}

function wireCall({ requestId, tool, atMs, verdict, record, notCovered }: SurveyedCall, input: string): WireCall {
  const changes = worthNaming(record?.changes ?? []);
  return {
    ref: changes.length === 0 ? '' : (record?.ref ?? ''),
    request_id: requestId,
    tool,
    input,
    at_ms: atMs,
    files: changes.slice(0, LISTED_FILES_MAX).map(lineOf),
    file_count: changes.length,
    not_covered: notCovered.slice(0, LISTED_FILES_MAX).map(describe),
    verdict,
    cut_short: record?.isCutShort === true,
  };
}

function wireOf({ record, files, notCovered, skipped }: UndoPlan, undone: UndoRecord | null): WirePlan {
  return {
    ref: record.ref,
    request_id: record.requestId,
    tool: record.tool,
    at_ms: record.atMs,
    files: worthShowing(files).map(({ change, action, why }) => ({ path: nameOfChange(change), action, why })),
    not_covered: notCovered.map(describe),
    shared: record.isShared,
    skipped: skipped.map((call) => wireCall(call, '')),
    cut_short: record.isCutShort === true,
    cut_short_beside: [...(record.cutShortBeside ?? [])],
    undone_by: undone?.ref ?? '',
  };
}
