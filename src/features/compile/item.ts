import type { SessionEvent } from '../events/event.ts';

/** An event on its way through the compiler. Each stage returns new items and changes none. */
export interface Item {
  readonly event: SessionEvent;
  /** What a prompt would show of its text; shorter than the event's after the firewall. */
  readonly shown: string;
  /** True if it is here only because another event depends on it. */
  readonly isDependency: boolean;
  /** Equal events that this one stands for, itself included. */
  readonly times: number;
  /** Larger is better; whole. 0 before it is scored. */
  readonly score: number;
}

/** `not_needed`: it was here for an event that was left out. */
export type DropReason = 'sensitivity' | 'duplicate' | 'kind_limit' | 'budget' | 'not_needed';

export interface Dropped {
  readonly seq: number;
  readonly reason: DropReason;
}

/** The result of a stage that leaves events out. */
export interface Sieved {
  readonly items: readonly Item[];
  readonly dropped: readonly Dropped[];
}
