import { compile, DEFAULT_SENSITIVITY } from '../compile/compile.ts';
import type { Contexts } from '../compile/contexts.ts';
import type { SessionEvent } from '../events/event.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Checkpoint } from './checkpoint.ts';

export interface CheckpointContextDeps {
  contexts: Pick<Contexts, 'build'>;
  eventLog: Pick<EventLog, 'read'>;
  countTokens(text: string): number;
}

/**
 * The compiler's selection of the events up to a checkpoint, which `ctxd session replay` can make again. If the log does not
 * have them any more, or never had, it is made of the checkpoint's own.
 */
export async function contextOf(
  checkpoint: Checkpoint,
  budgetTokens: number,
  { contexts, eventLog, countTokens }: CheckpointContextDeps,
): Promise<string> {
  const { session, position, body } = checkpoint;
  const request = { phase: 'answer', query: '', budgetTokens, isJson: true, sensitivity: DEFAULT_SENSITIVITY } as const;
  const logged = position === 0 ? [] : await eventLog.read(session, { to: position, newest: body.trail.length });
  if (position > 0 && logged.length >= body.trail.length) {
    // On a full disk nothing can be remembered; the checkpoint can still be read.
    const built = await contexts.build(session, request, position).catch(() => null);
    if (built !== null) return built.text;
  }
  return compile(eventsOf(checkpoint), request, countTokens).text;
}

/** Its own events as the compiler takes them: their texts say what they were. */
export function eventsOf({ session, body }: Pick<Checkpoint, 'session' | 'body'>): SessionEvent[] {
  return body.trail.map(({ seq, at, kind, text }) => ({
    seq,
    session,
    at,
    text,
    parent: null,
    sensitivity: 'internal',
    tokens: 0,
    artifact: null,
    kind: 'message',
    facts: { role: kind },
  }));
}
