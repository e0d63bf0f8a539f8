import { isDeepStrictEqual } from 'node:util';
import type { EnvelopeMeta } from '../core/envelope.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { FACTS, type FactName, type FactRecord, type FactRow } from './facts.ts';
import { type CallFacts, NO_FACTS } from './outcome.ts';

type KnownFacts = { -readonly [K in FactName]: CallFacts[K] };

/** In table order. The table has a row for every fact. */
const NAMES = Object.keys(FACTS) as FactName[];

/** Property names inside fact texts that contextd itself chose. */
export const FACT_TEXT_NAMES: readonly string[] = NAMES.flatMap((name) => FACTS[name].names ?? []);

/** Merges the facts that two sources report about one call. */
export function joinFacts<F extends Partial<CallFacts>>(facts: F, more: Partial<CallFacts>): F {
  const joined: F & Partial<KnownFacts> = { ...facts };
  for (const name of NAMES) join(joined, name, more[name]);
  return joined;
}

function join<K extends FactName>(facts: Partial<KnownFacts>, name: K, later: CallFacts[K] | undefined): void {
  if (later === undefined) return;
  const earlier = facts[name];
  const row: FactRow<CallFacts[K]> = FACTS[name];
  facts[name] = earlier === undefined || row.join === undefined ? later : row.join(earlier, later);
}

/** Facts without those about the output, for an output that is lost or withheld. */
export function withoutOutput(facts: CallFacts): CallFacts {
  const kept: KnownFacts = { ...facts };
  for (const name of NAMES) if (FACTS[name].isAboutOutput === true) reset(kept, name);
  return kept;
}

function reset<K extends FactName>(facts: KnownFacts, name: K): void {
  facts[name] = NO_FACTS[name];
}

/** Texts chosen by tools and commands, by fact. */
export function textsOf(facts: CallFacts): JsonObject {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const { texts } = FACTS[name];
      return texts === 'none' ? [] : [[name, partsOf(facts[name], texts)] as const];
    }),
  );
}

function partsOf(value: unknown, texts: 'all' | readonly string[]): Json {
  if (texts === 'all') return Array.isArray(value) ? value : [];
  const lists = isJsonObject(value) ? value : {};
  return Object.fromEntries(texts.map((key) => [key, lists[key] ?? []]));
}

/** Replaces the texts, for example with masked ones, in the layout of `textsOf`. */
export function withTexts(facts: CallFacts, texts: JsonObject): CallFacts {
  const changed: KnownFacts = { ...facts };
  for (const name of NAMES) setTexts(changed, name, texts[name]);
  return changed;
}

function setTexts<K extends FactName>(facts: KnownFacts, name: K, found: Json | undefined): void {
  const { texts } = FACTS[name];
  const value: unknown = facts[name];
  if (texts === 'none' || value === null) return;
  if (typeof found !== 'object' || found === null) throw new TypeError(`the texts of ${name} are missing`);
  // Masking changes only strings, so the texts keep the shape of the fact.
  facts[name] = (texts === 'all' ? found : Object.assign({}, value, found)) as CallFacts[K];
}

/** Removes every text that a tool or a command chose. */
export function withoutTexts(facts: CallFacts): CallFacts {
  return withTexts(facts, NO_TEXTS);
}

const NO_TEXTS = textsOf(NO_FACTS);

/** The facts' keys in `meta`, in the order of an answer. */
export function metaOfFacts(facts: CallFacts): Partial<EnvelopeMeta> {
  const meta: Partial<EnvelopeMeta> = {};
  for (const name of NAMES) {
    const { warnings = [], ...keys } = metaOf(name, facts[name]);
    Object.assign(meta, keys);
    if (warnings.length > 0) meta.warnings = [...(meta.warnings ?? []), ...warnings];
  }
  return meta;
}

function metaOf<K extends FactName>(name: K, value: CallFacts[K]): Partial<EnvelopeMeta> {
  const row: FactRow<CallFacts[K]> = FACTS[name];
  return row.meta === undefined || !isReported(name, value) ? {} : row.meta(value);
}

/** Audit record fields of the facts. `masked`: see FactRow. */
export function recordOfFacts(facts: CallFacts, masked: (text: string) => string): FactRecord {
  return Object.assign({}, ...NAMES.map((name) => recordOf(name, facts[name], masked)));
}

function recordOf<K extends FactName>(name: K, value: CallFacts[K], masked: (text: string) => string): FactRecord {
  const row: FactRow<CallFacts[K]> = FACTS[name];
  return row.record === undefined || !isReported(name, value) ? {} : row.record(value, masked);
}

/** False for a value that says only that there is nothing to report. */
function isReported<K extends FactName>(name: K, value: CallFacts[K]): value is NonNullable<CallFacts[K]> {
  return value !== null && !isDeepStrictEqual(value, NO_FACTS[name]);
}
