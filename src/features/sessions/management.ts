import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type { SessionEvent__Output as WireEvent } from '../../protocol/generated/management.ts';
import type { Management } from '../../protocol/management-contract.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { Contexts } from '../compile/contexts.ts';
import { phaseOf, sensitivityOf } from '../compile/request.ts';
import type { SessionEvent } from '../events/event.ts';
import type { StoredEventLog } from '../events/event-log.ts';
import { maskOwnWords } from '../shared/kept-text.ts';

export interface SessionManagementDeps {
  eventLog: Pick<StoredEventLog, 'sessions' | 'read'>;
  contexts: Pick<Contexts, 'build' | 'replay'>;
  scrubber: Pick<Scrubber, 'scrub' | 'issuedIn'>;
}

type SessionManagement = Pick<Management, 'listSessions' | 'readSession' | 'inspectSession' | 'replaySession'>;

/** What a person may see of sessions. */
export function createSessionManagement(deps: SessionManagementDeps): SessionManagement {
  const { eventLog, contexts, scrubber } = deps;
  /** The session that is named, or the one with the newest event. Throws NOT_FOUND. */
  const sessionOf = async (request: { root: string; session: string; branch?: string }): Promise<SessionRef> => {
    const { root, session, branch = '' } = request;
    const known = await eventLog.sessions(root);
    const found = session === '' ? known[0] : known.find((one) => one.session === session);
    if (found === undefined) throw noSession(session);
    return { project: root, session: found.session, branch: branch === '' ? null : branch };
  };
  return {
    async listSessions({ root }) {
      const sessions = await eventLog.sessions(root);
      return {
        sessions: sessions.map(({ firstMs, lastMs, ...one }) => ({ ...one, first_ms: firstMs, last_ms: lastMs })),
      };
    },
    async readSession(request) {
      const session = await sessionOf(request);
      const { from, to, limit, all_branches: allBranches } = request;
      const events = await eventLog.read(session, {
        from: from || 1,
        newest: limit,
        allBranches,
        ...(to === 0 ? {} : { to }),
      });
      // They were masked when they were recorded. What became known since is masked now.
      const texts = events.map(({ text, facts }) => ({ text, facts_json: JSON.stringify(facts) }));
      const masked = await maskOwnWords(session, texts, scrubber);
      return { session: session.session, events: events.map((event, i) => ({ ...wireEvent(event), ...masked[i] })) };
    },
    async inspectSession(request) {
      const { phase, query, budget_tokens, floor, redact, to } = request;
      const session = await sessionOf(request);
      const asked = {
        phase: phaseOf(phase),
        query,
        ...(budget_tokens === 0 ? {} : { budgetTokens: budget_tokens }),
        sensitivity: { floor: sensitivityOf(floor), action: redact ? ('redact' as const) : ('drop' as const) },
      };
      const { position, text, sha256, stats } = await contexts.build(session, asked, to === 0 ? undefined : to);
      const shown = await maskOwnWords(session, text, scrubber);
      return { session: session.session, position, text: shown, sha256, stats_json: JSON.stringify(stats) };
    },
    async replaySession(request) {
      const session = await sessionOf(request);
      const replayed = await contexts.replay(session);
      return {
        session: session.session,
        contexts: replayed.map(({ atMs, ...one }) => ({ ...one, at_ms: atMs })),
      };
    },
  };
}

function noSession(session: string): ContextdError {
  const what = session === '' ? 'session' : `session ${session.slice(0, 128)}`;
  return new ContextdError('NOT_FOUND', `nothing is kept of a ${what} of this project`, {
    remedy: '`ctxd session list` shows the sessions of the project.',
  });
}

function wireEvent(event: SessionEvent): WireEvent {
  const { seq, session, kind, parent, at, sensitivity, tokens, text, facts, artifact } = event;
  return {
    seq,
    kind,
    sensitivity,
    tokens,
    text,
    at_ms: at,
    facts_json: JSON.stringify(facts),
    branch: session.branch ?? '',
    parent: parent ?? 0,
    artifact: artifact ?? '',
  };
}
