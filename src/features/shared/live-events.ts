import type { AuditRecord } from '../../audit/log.ts';
import type { LiveEvent, LiveFeed, LiveTopic } from '../../call/live.ts';
import type { SessionRef } from '../../call/session.ts';
import { newShortId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { LoggedConnection } from '../../stores/network-log.ts';

/** Events that are kept for watchers that come back after an interruption. */
const KEPT_MAX = 1_000;
/** Characters of all kept events as JSON: the input of a call may be long. */
const KEPT_MAX_CHARS = 4_000_000;

/** Turns what the stores write down into events. It keeps nothing but the newest ones, in memory. */
export class LiveEvents implements LiveFeed {
  readonly epoch = newShortId();
  readonly #kept: LiveEvent[] = [];
  #keptChars = 0;
  readonly #listeners = new Set<(event: LiveEvent) => void>();
  #last = 0;

  since(number: number): readonly LiveEvent[] | null {
    const oldest = this.#kept[0]?.number ?? this.#last + 1;
    if (number < oldest - 1 || number > this.#last) return null;
    return this.#kept.filter((event) => event.number > number);
  }

  follow(listener: (event: LiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** A line of the audit log. */
  record(record: AuditRecord): void {
    this.#publish(topicOf(record), record.project, JSON.stringify(record));
  }

  connections(rows: readonly LoggedConnection[]): void {
    for (const row of rows) this.#publish('network', row.project, JSON.stringify(connectionOf(row)));
  }

  approval(project: string, event: JsonObject): void {
    this.#publish('approval', project, JSON.stringify(event));
  }

  session(change: 'started' | 'ended', { project, session }: SessionRef): void {
    this.#publish('session', project, JSON.stringify({ change, project, session }));
  }

  #publish(topic: LiveTopic, project: string, json: string): void {
    this.#last += 1;
    const event = { number: this.#last, topic, project, json };
    this.#kept.push(event);
    this.#keptChars += json.length;
    while (this.#kept.length > KEPT_MAX || this.#keptChars > KEPT_MAX_CHARS)
      this.#keptChars -= this.#kept.shift()?.json.length ?? 0;
    for (const listener of this.#listeners) listener(event);
  }
}

function topicOf({ kind, job }: AuditRecord): LiveTopic {
  if (kind === 'person') return 'person';
  if (kind === 'connections') return 'network';
  return job === undefined ? 'call' : 'job';
}

function connectionOf({ atMs, project, tool, session, requestId, ...row }: LoggedConnection): JsonObject {
  const { id, host, port, via, isAllowed, rule, why, up, down, durationMs, repeats } = row;
  return {
    time: new Date(atMs).toISOString(),
    project,
    tool,
    session,
    request_id: requestId,
    ...{ id, host, port, via, rule, why, up, down, repeats },
    allowed: isAllowed,
    duration_ms: durationMs,
  };
}
