import type { Management, UndoPlan as WirePlan } from '../call/management.ts';
import type { Clock } from '../core/clock.ts';
import { toText } from '../sandbox/workspace/raw-path.ts';
import type { Undo } from '../session/undo/undo.ts';
import type { UndoPlan } from '../session/undo/undo-plan.ts';
import type { UndoRecord } from '../session/undo/undo-records.ts';
import type { AuditLog } from '../stores/audit.ts';
import type { ProjectStore } from '../stores/projects.ts';
import { requireProject } from './approval-management.ts';

export interface UndoManagementDeps {
  undo: Pick<Undo, 'plan' | 'apply' | 'forget'>;
  projects: Pick<ProjectStore, 'find'>;
  auditLog: Pick<AuditLog, 'append'>;
  clock: Clock;
}

/** How a person takes back what calls did to files. Every undo is recorded. */
export function createUndoManagement(deps: UndoManagementDeps): Pick<Management, 'planUndo' | 'undoChanges'> {
  return {
    async planUndo({ root, which }) {
      await requireProject(root, deps.projects);
      return wireOf(await deps.undo.plan(root, which), null);
    },
    async undoChanges({ root, which, partial }) {
      await requireProject(root, deps.projects);
      const { undone, ...plan } = await deps.undo.apply(root, which, partial);
      if (undone !== null) await record(root, plan.ref, undone, deps);
      return wireOf(plan, undone);
    },
  };
}

async function record(root: string, ref: string, undone: UndoRecord, { auditLog, clock }: UndoManagementDeps) {
  await auditLog.append({
    time: new Date(clock.now()).toISOString(),
    request_id: undone.requestId,
    ...{ session: '', project: root, door: 'ctxd', kind: 'person', tool: 'undo', input: { ref } },
    files_changed: { ref: undone.ref, count: undone.changes.length },
    ...{ output_sha256: '', output_bytes: 0, duration_ms: 0, secrets_found: 0, secret_rules: [] },
    ...{ exit_code: null, error_code: null },
  });
}

function wireOf({ record, files }: UndoPlan, undone: UndoRecord | null): WirePlan {
  return {
    ref: record.ref,
    request_id: record.requestId,
    tool: record.tool,
    at_ms: record.atMs,
    files: files.map(({ path, action, why }) => ({ path: toText(path), action, why })),
    not_covered: record.missed.map(({ path, why }) => `${toText(path)}: ${why}`),
    shared: record.isShared,
    undone_by: undone?.ref ?? '',
  };
}
