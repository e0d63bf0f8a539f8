import { isRepeatable } from '../../call/effects.ts';
import { ContextdError } from '../../core/errors.ts';
import { CALL_AGAIN, SEE_LOGS } from '../../runner/plugin-link.ts';
import type { ToolBackend, ToolCall, ToolRun } from '../../runner/runner.ts';
import { KEEPS, type Trace, traceOfChanges } from './interrupted.ts';

/** A runner whose answers for calls that crashed are those of `explainCrash`. */
export function explainCrashes(runner: ToolBackend, config: UndoConfig): ToolBackend {
  return {
    start: () => runner.start(),
    stop: () => runner.stop(),
    run: async (call) => explainCrash(call, await runner.run(call), config),
  };
}

interface UndoConfig {
  undo: { enabled: boolean };
}

type EndedCall = Pick<ToolCall, 'origin' | 'effects' | 'session'>;

/**
 * Says what a call that crashed may have done, as the answer INTERRUPTED does. Only one that never began, or of a core tool without
 * effects, may simply be called again.
 */
export function explainCrash(call: EndedCall, { outcome, facts }: ToolRun, config: UndoConfig): ToolRun {
  const isCrash = outcome instanceof ContextdError && outcome.code === 'TOOL_CRASHED';
  if (!isCrash || outcome.details.stopped_by !== 'crash') return { outcome, facts };
  if (call.origin === 'core' && isRepeatable(call.effects)) return { outcome, facts };
  return { outcome: explained(outcome, traceOf(call, facts, config)), facts };
}

/** An installed tool may do what its effects do not say. */
function traceOf(
  { origin, effects, session }: EndedCall,
  { fileChanges }: ToolRun['facts'],
  { undo }: UndoConfig,
): Trace {
  if (effects.files !== 'write') return origin === 'core' ? KEEPS : traceOfChanges(null);
  // The changes of a branch are in its own files, not on record.
  const isKnown = fileChanges !== null || (undo.enabled && session.branch === null);
  return traceOfChanges(isKnown ? fileChanges : 'unknown');
}

function explained({ code, message, remedy, details, cause }: ContextdError, trace: Trace): ContextdError {
  return new ContextdError(code, `${message}. ${trace.said}`, {
    remedy: [trace.remedy, remedy === undefined || remedy === CALL_AGAIN ? SEE_LOGS : remedy].join(' '),
    details: { ...details, ...trace.details },
    cause,
  });
}
