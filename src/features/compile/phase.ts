import { EVENT_KINDS, type EventKind, type EventKindRow, type Phase } from '../events/event-kinds.ts';

export interface PhaseRules {
  /** Tokens of the whole text. */
  readonly budgetTokens: number;
  /** How much a kind counts: see EVENT_KINDS. */
  weightOf(kind: EventKind): number;
  /** The most events of a kind. Infinity: as many as fit. */
  limitOf(kind: EventKind): number;
}

const BUDGET_TOKENS: Readonly<Record<Phase, number>> = { route: 2_000, call: 3_000, interpret: 4_000, answer: 6_000 };

export function rulesOf(phase: Phase): PhaseRules {
  const rowOf = (kind: EventKind): EventKindRow => EVENT_KINDS[kind];
  return {
    budgetTokens: BUDGET_TOKENS[phase],
    weightOf: (kind) => rowOf(kind).weights[phase],
    limitOf: (kind) => rowOf(kind).limits?.[phase] ?? Number.POSITIVE_INFINITY,
  };
}
