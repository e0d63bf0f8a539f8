import type { Sensitivity, SessionEvent } from '../events/event.ts';
import type { Phase } from '../events/event-kinds.ts';
import { candidates } from './candidates.ts';
import { deduplicate } from './deduplicate.ts';
import { dependencyClosure } from './dependency-closure.ts';
import { applyFirewall } from './firewall.ts';
import type { Dropped, DropReason, Item } from './item.ts';
import { rulesOf } from './phase.ts';
import { lineOf, NOTE, renderSections, textOf } from './render.ts';
import { scoreCandidates } from './score.ts';
import { selectAndPack } from './select.ts';
import { filterSensitivity, type SensitivityPolicy } from './sensitivity.ts';

export interface CompileRequest {
  readonly phase: Phase;
  /** What the work is about; '' for nothing in particular. */
  readonly query: string;
  /** Tokens of the text. Default: those of the phase. */
  readonly budgetTokens?: number;
  /** Whether the tokens are those of the text as a JSON string. Default: false. */
  readonly isJson?: boolean;
  readonly sensitivity: SensitivityPolicy;
}

/** What became of every candidate. `included` + `dropped.length` = `candidates`. */
export interface BuildStats {
  readonly phase: Phase;
  readonly budgetTokens: number;
  /** Of the text. */
  readonly tokens: number;
  /** After the dependency closure. */
  readonly candidates: number;
  /** Of them, those that are here because others depend on them. */
  readonly closures: number;
  readonly included: number;
  /** By position. */
  readonly dropped: readonly Dropped[];
  readonly reasons: Readonly<Record<DropReason, number>>;
  readonly tokensOfSections: Readonly<Record<string, number>>;
}

export interface CompiledContext {
  readonly text: string;
  readonly stats: BuildStats;
}

/** Only what may be shown to everybody in the project; nothing of a call whose output could not be searched. */
export const DEFAULT_SENSITIVITY: SensitivityPolicy = { floor: 'restricted' satisfies Sensitivity, action: 'drop' };

/**
 * Makes a text of the events of a session, in eight stages: candidates, dependency closure, sensitivity, firewall, score,
 * deduplicate, select and pack, render. The same events and request give the same bytes. `events`: in the order of the log.
 */
export function compile(
  events: readonly SessionEvent[],
  request: CompileRequest,
  countRaw: (text: string) => number,
): CompiledContext {
  const countTokens =
    request.isJson === true ? (text: string): number => countRaw(JSON.stringify(text).slice(1, -1)) : countRaw;
  const budgetTokens = request.budgetTokens ?? rulesOf(request.phase).budgetTokens;
  const costOf = (item: Item): number => countTokens(`${lineOf(item)}\n`);
  const room = budgetTokens - countTokens(`${NOTE}\n`) - SECTION_HEADS_TOKENS;
  const { closed, items, dropped } = pack(events, request, room, costOf);
  const sections = renderSections(items);
  const text = textOf(sections);
  return {
    text,
    stats: {
      phase: request.phase,
      budgetTokens,
      tokens: countTokens(text),
      candidates: closed.length,
      closures: closed.filter(({ isDependency }) => isDependency).length,
      included: items.length,
      dropped,
      reasons: reasonsOf(dropped),
      tokensOfSections: Object.fromEntries(
        sections.map(({ name, lines }) => [name, countTokens(lines.map((line) => `${line}\n`).join(''))]),
      ),
    },
  };
}

export interface Packed {
  /** All candidates. */
  readonly closed: readonly Item[];
  /** Those that are included, in the order of the log. */
  readonly items: readonly Item[];
  readonly dropped: readonly Dropped[];
}

/** The first seven stages. `costOf`: tokens of what shows an event, of which `room` are there. */
export function pack(
  events: readonly SessionEvent[],
  { phase, query, sensitivity }: CompileRequest,
  room: number,
  costOf: (item: Item) => number,
): Packed {
  const rules = rulesOf(phase);
  const position = events.at(-1)?.seq ?? 0;
  const closed = dependencyClosure(candidates(events, rules), events);
  const allowed = filterSensitivity(closed, sensitivity);
  const scored = scoreCandidates(applyFirewall(allowed.items), rules, query, position);
  const unique = deduplicate(scored);
  const packed = selectAndPack(unique.items, rules, room, costOf);
  const dropped = [...allowed.dropped, ...unique.dropped, ...packed.dropped].sort((a, b) => a.seq - b.seq);
  return { closed, items: packed.items, dropped };
}

/** The heads of all sections, generously: lines joined may count a little more than lines alone. */
const SECTION_HEADS_TOKENS = 32;

function reasonsOf(dropped: readonly Dropped[]): Record<DropReason, number> {
  const reasons: Record<DropReason, number> = { sensitivity: 0, duplicate: 0, kind_limit: 0, budget: 0, not_needed: 0 };
  for (const { reason } of dropped) reasons[reason] += 1;
  return reasons;
}
