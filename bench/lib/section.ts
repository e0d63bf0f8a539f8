import type { GitleaksPlaces } from '../../src/scrub/gitleaks/binary.ts';
import type { Spread } from './measure.ts';

/** One part of the benchmark; it runs in a process of its own. */
export interface Section {
  run(options: SectionOptions): Promise<Outcome>;
}

export interface SectionOptions {
  /** Rounds of each race. */
  rounds: number;
  /** Sandboxes in a row that the aggregate starts. */
  sandboxes: number;
  /** Calls of the memory section. */
  calls: number;
  /** Where the caller's gitleaks may be: a section has a home of its own. */
  gitleaks: GitleaksPlaces;
}

export interface Outcome {
  tables: Table[];
  /** What is no time. */
  facts: Fact[];
}

export interface Table {
  title: string;
  /** The row that the others are divided by; null: none. */
  base: string | null;
  rows: Row[];
  aims: Aim[];
}

export interface Row {
  name: string;
  /** Null when it could not be measured. */
  times: Spread | null;
  /** Why not; else empty. */
  note: string;
}

/** What a row's median is meant to be. It is printed with the result and fails nothing. */
export interface Aim {
  row: string;
  atMost: number;
  /** The row whose median is the unit; null: milliseconds. */
  times: string | null;
}

export interface Fact {
  name: string;
  value: string | number | null;
}

export function rowsOf(measured: ReadonlyMap<string, Spread>): Row[] {
  return [...measured].map(([name, times]) => ({ name, times, note: '' }));
}

export function missingRow(name: string, why: string): Row {
  return { name, times: null, note: why };
}
