import type { JsonObject } from '../../core/json.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { QuestionEvent } from './call-approvals.ts';

/** A question that came up or ended, for those who watch. The input of the call is left out: only who decides reads it. */
export function questionEvent(event: QuestionEvent, scrubber: Pick<Scrubber, 'maskText'>): JsonObject {
  const { id, rule, session, tool, askedMs } = event.question;
  return {
    change: event.kind,
    ...(event.kind === 'ended' ? { how: event.how } : {}),
    ...{ id, rule: rule.id, tool, project: session.project, session: scrubber.maskText(session.session) },
    asked_at: new Date(askedMs).toISOString(),
  };
}
