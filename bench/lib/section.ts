import type { GitleaksPlaces } from '../../src/scrub/gitleaks/binary.ts';
import type { Spread } from './measure.ts';

/** One part of the benchmark. Each section runs in its own process. */
export interface Section {
  /** `report`: shows a part of the outcome at once. What is returned is the rest. */
  run(options: SectionOptions, report: (part: Partial<Outcome>) => void): Promise<Partial<Outcome>>;
}

export interface SectionOptions {
  /** Rounds of each race. */
  rounds: number;
  /** Sandboxes that the section `aggregate` starts one after another. */
  sandboxes: number;
  /** Calls that the section `memory` makes. */
  calls: number;
  /** Where to look for the caller's gitleaks; a section has its own home and would not find it. */
  gitleaks: GitleaksPlaces;
  /** A Qdrant server that the section `memories` measures too; null: none. */
  qdrantUrl: string | null;
  /** A folder with an ONNX model, or the address of an endpoint, for the section `retrieval`; null: none. */
  embeddingModel: string | null;
  /** Directory of sets of questions; null: the built-in set only. */
  retrievalSets: string | null;
  /** Directory of catalogues of tools with questions, for the section `route`; null: none. */
  toolSets: string | null;
  /** Directory of recorded `tools/list` of MCP servers, for the section `gateway`; null: none. */
  catalogs: string | null;
  /** Where the route section writes the queries that it missed; null: nowhere. */
  misses: string | null;
}

export interface Outcome {
  tables: Table[];
  /** Results with an aim, in one table. Default: none. */
  figures?: Figure[];
  /** Other results that are not times. */
  facts: Fact[];
}

/** A result, its aim, and what another program reaches in the same run. */
export interface Figure {
  name: string;
  value: string;
  aim: string;
  /** Null: not measured. */
  isMet: boolean | null;
  /** Empty: nothing to compare with. */
  beside: string;
}

export const NOTHING: Outcome = { tables: [], facts: [] };

export function joinParts(one: Outcome, other: Partial<Outcome>): Outcome {
  return {
    tables: [...one.tables, ...(other.tables ?? [])],
    figures: [...(one.figures ?? []), ...(other.figures ?? [])],
    facts: [...one.facts, ...(other.facts ?? [])],
  };
}

export interface Table {
  title: string;
  /** The row that all others are compared with; null: no comparison. */
  base: string | null;
  rows: Row[];
  aims: Aim[];
}

export interface Row {
  name: string;
  /** Null if it could not be measured. */
  times: Spread | null;
  /** The reason why there are no times; otherwise empty. */
  note: string;
}

/** The target for a row's median. It is printed with the result; missing it is not a failure. */
export interface Aim {
  row: string;
  atMost: number;
  /** The row whose median is the unit of `atMost`; null: milliseconds. */
  times: string | null;
}

export interface Fact {
  name: string;
  value: string | number | null;
}

/** Says on stderr what a section does next. */
export function sayStep(step: string): void {
  process.stderr.write(`  … ${step}\n`);
}

export function rowsOf(measured: ReadonlyMap<string, Spread>): Row[] {
  return [...measured].map(([name, times]) => ({ name, times, note: '' }));
}

export function missingRow(name: string, why: string): Row {
  return { name, times: null, note: why };
}
