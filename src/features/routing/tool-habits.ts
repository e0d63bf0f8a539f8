import { type SessionRef, sessionKey } from '../../call/session.ts';
import type { Logger } from '../../core/log.ts';
import { wordsToLearn } from '../../gateway/router/habits.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import type { RecordedCall } from '../../stores/recorded-call.ts';
import type { ToolChoices } from '../../stores/tool-choices.ts';
import type { ToolCatalogues } from './tool-catalogues.ts';

export interface ToolHabitsDeps {
  choices: Pick<ToolChoices, 'add' | 'forget'>;
  catalogues: Pick<ToolCatalogues, 'refreshHabits' | 'forget'>;
  projects: Pick<ProjectStore, 'find'>;
  scrubber: Pick<Scrubber, 'maskText'>;
  logger: Logger;
}

interface EndedCall extends Pick<RecordedCall, 'session' | 'hasRun'> {
  readonly record: Pick<RecordedCall['record'], 'tool'>;
}

/** What a session was offered and has not executed yet. */
interface Offers {
  /** By the name of a tool. */
  readonly tools: Map<string, Offer>;
  /** Calls that ended since the session's first offer. */
  calls: number;
  /** The greatest `until` of its tools. */
  until: number;
}

interface Offer {
  /** The latest query that found the tool. In memory only: it may hold secrets. */
  readonly query: string;
  /** The number of the last call that counts. */
  readonly until: number;
}

/** Calls of a session after a browse that may be what the agent searched for. Later ones have other reasons. */
const CALLS_AFTER = 10;
/** The browse ends after it has offered tools. */
const ITSELF = 1;
/** Sessions whose offers are kept. */
const SESSIONS_MAX = 256;
/** What the scrubber puts in the place of a secret. */
const MASK = /\[SECRET(?:_\d+)?\]/g;

/** Learns which tools agents execute after they searched for one, for the later searches of the project. */
export class ToolHabits {
  readonly #deps: ToolHabitsDeps;
  /** The session that searched last at the end. */
  readonly #sessions = new Map<string, Offers>();

  constructor(deps: ToolHabitsDeps) {
    this.#deps = deps;
  }

  /** A browse by query has offered tools. */
  offered(session: SessionRef, query: string, tools: readonly string[]): void {
    if (tools.length === 0) return;
    const key = sessionKey(session);
    const offers = this.#sessions.get(key) ?? { tools: new Map<string, Offer>(), calls: 0, until: 0 };
    offers.until = offers.calls + ITSELF + CALLS_AFTER;
    for (const name of tools) offers.tools.set(name, { query, until: offers.until });
    this.#sessions.delete(key);
    this.#sessions.set(key, offers);
    for (const oldest of this.#sessions.keys()) if (this.#sessions.size > SESSIONS_MAX) this.#sessions.delete(oldest);
  }

  /** A call has ended. Each tool of a browse is a choice once, if it was executed. Costs a look-up unless it is one. */
  ended({ session, record: { tool }, hasRun }: EndedCall): void {
    if (this.#sessions.size === 0 || !hasRun) return;
    const key = sessionKey(session);
    const offers = this.#sessions.get(key);
    if (offers === undefined) return;
    offers.calls += 1;
    const offer = offers.tools.get(tool);
    offers.tools.delete(tool);
    if (offers.calls === offers.until || offers.tools.size === 0) this.#sessions.delete(key);
    if (offer !== undefined && offers.calls <= offer.until) void this.#learn(session.project, tool, offer.query);
  }

  /** Forgets what was learned in a project that is no longer registered. */
  async forget(project: string): Promise<void> {
    await this.#deps.choices.forget(project);
    this.#deps.catalogues.forget(project);
  }

  async #learn(project: string, tool: string, query: string): Promise<void> {
    const { choices, catalogues, projects, scrubber, logger } = this.#deps;
    try {
      const words = wordsToLearn(scrubber.maskText(query).replaceAll(MASK, ' '));
      if (words.length === 0) return;
      if ((await projects.find(project)) === null) return;
      await choices.add(project, { words, tool });
      await catalogues.refreshHabits(project);
    } catch (thrown) {
      logger.warn('routing.not_learned', { project, tool, cause: String(thrown) });
    }
  }
}
