import type { ToolEffects } from '../../call/effects.ts';
import type { FileChanges } from '../../call/outcome.ts';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import type { JournalCall } from '../../stores/journal.ts';
import type { CutShortChanges, Undo } from '../undo/undo.ts';

/** Milliseconds within which the files of the project are read. */
const LOOK_MAX_MS = 20_000;
/** Records of other calls that an answer names. */
const BESIDE_MAX = 5;

export interface CutShortDeps {
  undo: Pick<Undo, 'changesOfCutShort'>;
  config: { undo: { enabled: boolean } };
}

/** The answer for a call that ended with its daemon: what may have happened, and how to take it back. */
export async function interruptedBy(
  call: Pick<JournalCall, 'tool' | 'project' | 'startedMs'> & { requestId: string },
  effects: ToolEffects | null,
  deps: CutShortDeps,
): Promise<ContextdError> {
  const ended = `the daemon ended before ${call.tool} had answered, and whatever the call had started ended with it`;
  const { said, remedy, details } = await traceOf(call, effects, deps);
  return new ContextdError('INTERRUPTED', `${ended}. ${said}`, {
    remedy,
    details: { stopped_by: 'crash', ...details },
  });
}

/** What is known of the effects of a call that ended without an answer, and what its caller can do. */
export interface Trace {
  said: string;
  remedy: string;
  details?: { files_changed: number; undo?: string; undo_beside?: readonly string[] };
}

async function traceOf(
  call: Parameters<typeof interruptedBy>[0],
  effects: ToolEffects | null,
  deps: CutShortDeps,
): Promise<Trace> {
  if (effects !== null && effects.files !== 'write') return KEEPS;
  const found = await changesOf(call, deps);
  return found === 'unknown' ? traceOfChanges(found) : withBeside(traceOfChanges(found.changes), found.beside);
}

/** Names the records of calls that ended while it ran, on which some of its changes may be. */
function withBeside(trace: Trace, beside: readonly string[]): Trace {
  if (beside.length === 0) return trace;
  const named = beside.slice(0, BESIDE_MAX);
  const count = beside.length === 1 ? 'A call' : `${beside.length} calls`;
  const [record, whose] = beside.length === 1 ? ['its record', 'that call'] : ['their records', 'those calls'];
  const more = beside.length > BESIDE_MAX ? ' Older ones are in `ctxd undo --list`.' : '';
  return {
    said: `${trace.said}. ${count} ended while it ran, and what it had changed until then is on ${record}`,
    remedy: `${trace.remedy} ${named.map((ref) => `\`ctxd undo ${ref}\``).join(', ')} would also take back what ${whose} changed.${more}`,
    details: { files_changed: 0, ...trace.details, undo_beside: named },
  };
}

/** Of a call that changes no files, but keeps something. */
export const KEEPS: Trace = {
  said: 'It changes no files, but what it was to keep may be kept',
  remedy: 'Look at what it was to keep before you call again.',
};

/** Of a call that may change files. Null: none is on record. */
export function traceOfChanges(changes: FileChanges | null | 'unknown'): Trace {
  const count = changes === null || changes === 'unknown' ? 0 : countOf(changes);
  // A record without changes: there was no earlier state of the files to compare with.
  if (changes === 'unknown' || (changes !== null && count === 0))
    return {
      said: 'It may have changed files, which was not recorded',
      remedy: 'Check what it was to change before you call again.',
    };
  if (changes === null)
    return {
      said: 'No change of a file is on record, but it may have acted elsewhere, such as over the network',
      remedy: 'Check what it was to do before you call again.',
    };
  const said = `It may have changed ${count} ${count === 1 ? 'file' : 'files'} of the project`;
  if (changes.ref === null)
    return {
      said,
      remedy: 'Undo does not cover them: check them before you call again.',
      details: { files_changed: count },
    };
  return {
    said,
    remedy: `Check them before you call again, or take them back: \`ctxd undo ${changes.ref}\`.`,
    details: { files_changed: count, undo: changes.ref },
  };
}

async function changesOf(
  { project, requestId, startedMs }: Parameters<typeof interruptedBy>[0],
  { undo, config }: CutShortDeps,
): Promise<CutShortChanges | 'unknown'> {
  if (!config.undo.enabled) return 'unknown';
  try {
    const looked = undo.changesOfCutShort(project, requestId, startedMs);
    return await within(LOOK_MAX_MS, looked, () => 'unknown' as const);
  } catch {
    return 'unknown';
  }
}

function countOf({ files, more, notCovered }: FileChanges): number {
  return files.length + more + notCovered.length;
}
