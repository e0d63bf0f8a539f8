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
  /** By the name of a tool, the words of the latest query that found it. */
  readonly wordsOf: Map<string, readonly string[]>;
  callsLeft: number;
}

/** Calls of a session after a browse that may be what the agent searched for. Later ones have other reasons. */
const CALLS_AFTER = 10;
/** Sessions whose offers are kept. */
const SESSIONS_MAX = 256;
const QUERY_MAX_CHARS = 8_192;
/** What the scrubber puts in the place of a secret. */
const MASK = /\[SECRET(?:_\d+)?\]/g;
/** Calling these after a browse is to search on, not to choose. */
const SEARCHING: ReadonlySet<string> = new Set(['tool_browse', 'tool_hydrate']);

/** Learns which tools agents execute after they searched for one, for the later searches of the project. */
export class ToolHabits {
  readonly #deps: ToolHabitsDeps;
  /** The session that searched last at the end. */
  readonly #sessions = new Map<string, Offers>();

  constructor(deps: ToolHabitsDeps) {
    this.#deps = deps;
  }

  /** A browse by query has offered tools. Keeps the words of the query without its secrets. */
  offered(session: SessionRef, query: string, tools: readonly string[]): void {
    const masked = this.#deps.scrubber.maskText(query.slice(0, QUERY_MAX_CHARS));
    const words = wordsToLearn(masked.replaceAll(MASK, ' '));
    const names = tools.filter((name) => !SEARCHING.has(name));
    if (words.length === 0 || names.length === 0) return;
    const key = sessionKey(session);
    const wordsOf = new Map(this.#sessions.get(key)?.wordsOf);
    for (const name of names) wordsOf.set(name, words);
    this.#sessions.delete(key);
    this.#sessions.set(key, { wordsOf, callsLeft: CALLS_AFTER });
    for (const oldest of this.#sessions.keys()) if (this.#sessions.size > SESSIONS_MAX) this.#sessions.delete(oldest);
  }

  /** A call has ended. Each tool of a browse is a choice once, if it was executed. Costs a look-up unless it is one. */
  ended({ session, record: { tool }, hasRun }: EndedCall): void {
    if (this.#sessions.size === 0 || !hasRun || SEARCHING.has(tool)) return;
    const key = sessionKey(session);
    const offers = this.#sessions.get(key);
    if (offers === undefined) return;
    const words = offers.wordsOf.get(tool);
    offers.wordsOf.delete(tool);
    offers.callsLeft -= 1;
    if (offers.callsLeft === 0 || offers.wordsOf.size === 0) this.#sessions.delete(key);
    if (words !== undefined) void this.#learn(session.project, tool, words);
  }

  /** Forgets what was learned in a project that is no longer registered. */
  async forget(project: string): Promise<void> {
    await this.#deps.choices.forget(project);
    this.#deps.catalogues.forget(project);
  }

  async #learn(project: string, tool: string, words: readonly string[]): Promise<void> {
    const { choices, catalogues, projects, logger } = this.#deps;
    try {
      if ((await projects.find(project)) === null) return;
      await choices.add(project, { words, tool });
      await catalogues.refreshHabits(project);
    } catch (thrown) {
      logger.warn('routing.not_learned', { project, tool, cause: String(thrown) });
    }
  }
}
