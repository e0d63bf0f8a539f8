import { sessionKey } from '../call/session.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { VerifiedCall } from './call.ts';
import type { Allowed, Denied } from './decision.ts';

type Limits = Config['gateway']['rate_limits'];

/** What is counted of a call. */
type CountedCall = Pick<VerifiedCall, 'session' | 'execution'> & { tool: { manifest: { name: string } } };

const MINUTE_MS = 60_000;
/** Sessions whose calls are counted. Of more, the counts of the one that called least recently begin again. */
const SESSIONS_MAX = 4_096;

/** The calls of one session to one tool. */
interface Count {
  /** Monotonic milliseconds of the calls of the last minute, oldest first. */
  recent: number[];
  total: number;
}

/**
 * The limits of calls that a person set (gateway surface §4.5), by tool and session. A call that came through another tool
 * counts for both. Nothing is counted for a tool without a limit.
 */
export class CallRates {
  readonly #limits: Limits;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** By session, the one that called last at the end. */
  readonly #sessions = new Map<string, Map<string, Count>>();

  constructor(limits: Limits, clock: Pick<Clock, 'monotonic'>) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Whether the call stays within the limits. Counts nothing. */
  judge(call: CountedCall): Allowed | Denied {
    const scopes = this.#scopesOf(call);
    for (const scope of scopes) {
      const fault = this.#faultOf(call, scope);
      if (fault !== null) return fault;
    }
    const reason = scopes.length === 0 ? 'no rate limit covers the call' : 'the call stays within its rate limits';
    return { verdict: 'allow', reason };
  }

  /** Judges a call that is about to run, and counts it if it may. */
  take(call: CountedCall): Allowed | Denied {
    const verdict = this.judge(call);
    if (verdict.verdict === 'deny') return verdict;
    for (const scope of this.#scopesOf(call)) {
      const count = this.#countOf(call, scope);
      count.recent.push(this.#clock.monotonic());
      count.total += 1;
    }
    return verdict;
  }

  #scopesOf({ tool, execution }: CountedCall): string[] {
    const names = [...(execution === undefined ? [] : [execution.via]), tool.manifest.name];
    return names.filter((name) => Object.hasOwn(this.#limits, name));
  }

  #faultOf(call: CountedCall, scope: string): Denied | null {
    const { per_minute: perMinute = 0, per_session: perSession = 0 } = this.#limits[scope] ?? {};
    const count = this.#countOf(call, scope);
    const now = this.#clock.monotonic();
    count.recent = count.recent.filter((at) => at > now - MINUTE_MS);
    if (perSession > 0 && count.total >= perSession)
      return denied(scope, `all ${perSession} calls of the session`, perSession, null);
    const [oldest = now] = count.recent;
    if (perMinute > 0 && count.recent.length >= perMinute)
      return denied(scope, `${perMinute} calls in the last minute`, perMinute, oldest + MINUTE_MS - now);
    return null;
  }

  #countOf({ session }: CountedCall, scope: string): Count {
    const key = sessionKey(session);
    const counts = this.#sessions.get(key) ?? new Map<string, Count>();
    this.#sessions.delete(key);
    this.#sessions.set(key, counts);
    for (const oldest of this.#sessions.keys()) if (this.#sessions.size > SESSIONS_MAX) this.#sessions.delete(oldest);
    const count = counts.get(scope) ?? { recent: [], total: 0 };
    counts.set(scope, count);
    return count;
  }
}

/** `waitMs`: until a call is allowed again; null: not in this session. */
function denied(scope: string, used: string, limit: number, waitMs: number | null): Denied {
  const retryAfterMs = waitMs === null ? undefined : Math.ceil(waitMs);
  return {
    verdict: 'deny',
    code: 'RATE_LIMITED',
    limit,
    reason: `${scope} has used ${used}`,
    remedy:
      retryAfterMs === undefined
        ? 'A person can raise gateway.rate_limits. Another session has its own count.'
        : `Call again in ${Math.ceil(retryAfterMs / 1_000)} s, or ask a person to raise gateway.rate_limits.`,
    details: { scope, ...(retryAfterMs === undefined ? {} : { retry_after: Math.ceil(retryAfterMs / 1_000) }) },
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}
