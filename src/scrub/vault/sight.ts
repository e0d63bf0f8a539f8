import type { Finding } from '../finding.ts';
import type { RunClass } from './forms.ts';
import type { KnownValues } from './known-values.ts';

/** A known value in a text. */
export interface GuardHit extends Finding {
  /** The known value. */
  of: string;
  /**
   * `value`: the text is the value. `escape`: the whole value as a format writes it (JSON, percent, XML, a shell): its
   * reader would get the value. `trace`: a piece of it, or anything it can be computed from.
   */
  shows: 'value' | 'escape' | 'trace';
}

/** A hit before it is seen together with those around it. */
export interface Sight extends GuardHit {
  known: KnownValues;
  owner: number;
  /** Positions in FORM_KINDS; empty for what is not found by pieces. */
  forms: number[];
  /** The part of the form that shows, from 0 to 1. */
  from: number;
  to: number;
  run: RunClass;
  /** Bits of the value may stand beside it in another form. */
  isDump: boolean;
}

/** Between texts that were not together: nothing merges across it. */
export const SEPARATOR = '\uffff';
