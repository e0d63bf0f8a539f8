import type { EventKind } from '../events/event.ts';

/** What a context is for: to choose a tool, to write its arguments, to understand its result, or to answer a person. */
export const PHASES = ['route', 'call', 'interpret', 'answer'] as const;
export type Phase = (typeof PHASES)[number];

export interface PhaseRules {
  /** Tokens of the whole text. */
  readonly budgetTokens: number;
  /** How much a kind counts, 0 to 3; a kind with 0 is no candidate. */
  readonly weights: Readonly<Record<EventKind, number>>;
  /** The most events of a kind. Default: as many as fit. */
  readonly limits: Readonly<Partial<Record<EventKind, number>>>;
}

const BOUNDS = { branch: 1, checkpoint: 1, undo: 1 };

export const PHASE_RULES: Readonly<Record<Phase, PhaseRules>> = {
  route: { budgetTokens: 2_000, weights: { ...BOUNDS, message: 3, memory: 1, call: 1 }, limits: { call: 20 } },
  call: { budgetTokens: 3_000, weights: { ...BOUNDS, message: 2, memory: 1, call: 2 }, limits: { memory: 10 } },
  interpret: { budgetTokens: 4_000, weights: { ...BOUNDS, message: 1, memory: 0, call: 3, checkpoint: 0 }, limits: {} },
  answer: { budgetTokens: 6_000, weights: { ...BOUNDS, message: 3, memory: 1, call: 2, branch: 2 }, limits: {} },
};
