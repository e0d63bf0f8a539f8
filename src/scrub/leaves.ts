import type { Json } from '../core/json.ts';
import type { Finding } from './finding.ts';
import type { ScrubEngine } from './hardened/engine.ts';
import { mergeFindings } from './spans.ts';

/**
 * Every string of a value, object keys included: depth first, a key right before its value. `replaceLeaves` and the
 * first pass in a tool's process rely on this order.
 */
export function collectLeaves(value: Json): string[] {
  const leaves: string[] = [];
  collect(value, leaves);
  return leaves;
}

function collect(value: Json, leaves: string[]): void {
  if (typeof value === 'string') leaves.push(value);
  else if (isList(value)) for (const item of value) collect(item, leaves);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      leaves.push(key);
      collect(item, leaves);
    }
}

/**
 * Returns the same value with other strings, in the order of `collectLeaves`. Keys that become equal get " (2)", " (3)"
 * and so on, so that nothing is lost. RangeError if the number of leaves differs.
 */
export function replaceLeaves(value: Json, leaves: readonly string[]): Json {
  const source = leaves[Symbol.iterator]();
  const take = (): string => {
    const { done, value: leaf } = source.next();
    if (done) throw new RangeError('fewer leaves than strings in the value');
    return leaf;
  };
  const replaced = replace(value, take);
  if (!source.next().done) throw new RangeError('more leaves than strings in the value');
  return replaced;
}

function replace(value: Json, take: () => string): Json {
  if (typeof value === 'string') return take();
  if (isList(value)) return value.map((item) => replace(item, take));
  if (typeof value !== 'object' || value === null) return value;
  const entries = new Map<string, Json>();
  for (const item of Object.values(value)) {
    const key = freeKey(take(), entries);
    entries.set(key, replace(item, take));
  }
  return Object.fromEntries(entries);
}

/** Returns the key if it is free, otherwise the key with the first free " (n)". */
export function freeKey(key: string, taken: ReadonlyMap<string, Json>): string {
  let free = key;
  for (let count = 2; taken.has(free); count++) free = `${key} (${count})`;
  return free;
}

/** Array.isArray does not narrow a readonly array. */
function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * A string of a structured value loses its name when it is scanned alone: `{"password":"<word>"}` has no secret in
 * "password" and none in "word". So a leaf with a telling name is scanned once more as `"name": "leaf"`, and findings
 * in the leaf's part of that text count.
 */
interface LeafText {
  /** What to scan. */
  text: string;
  /** Where the leaf lies in it: UTF-16 offsets, half open. */
  start: number;
  end: number;
}

/** Longer names are cut from the front, because the telling part is at their end. */
const MAX_NAME_CHARS = 80;
/** Longer strings are texts, not values, and have context of their own. */
const MAX_LEAF_CHARS = 4096;
/** A name that a rule may know. Only decides whether a second scan is worth its time. */
const TELLING =
  /pass|pwd|psw|pw$|secret|token|credential|creds?$|key|auth|cookie|session|sid$|jwt|otp|mfa|2fa|seed|mnemonic|phrase|signature|sig$|salt|dsn|kennwort|contrase|psk$|pin$/i;

/** A string to search, and the name it has where it stands. */
export interface NamedText {
  text: string;
  name: string | undefined;
}

/** Every string of a value with its name, in the order of `collectLeaves`. */
export function collectNamed(value: Json): NamedText[] {
  const names = collectNames(value);
  return collectLeaves(value).map((text, position) => ({ text, name: names[position] }));
}

/**
 * The name of each string of a value, in the order of `collectLeaves`: the key of the property a string (or the list
 * that holds it) belongs to; for an object with a name and a value, such as {"name":"TOKEN","value":"…"}, that name;
 * undefined for object keys themselves and strings without a key.
 */
export function collectNames(value: Json): (string | undefined)[] {
  const names: (string | undefined)[] = [];
  collectNamesOf(value, undefined, names);
  return names;
}

/** Returns the text to scan for a leaf besides the leaf itself; undefined if its name is not telling. */
export function leafText(name: string | undefined, leaf: string): LeafText | undefined {
  if (name === undefined || leaf === '' || leaf.length > MAX_LEAF_CHARS || !TELLING.test(name)) return undefined;
  // A quote in the leaf would end the value for a rule. It is replaced, not removed, so that offsets stay the same.
  const value = leaf.replace(/["\\\r\n]/g, '_');
  const head = `"${name.slice(-MAX_NAME_CHARS).replace(/[^\w.$ -]/g, '_')}": "`;
  return { text: `${head}${value}"\n`, start: head.length, end: head.length + leaf.length };
}

/** What was found in a leaf's text, as findings of the leaf: those of the name are dropped, the others cut to it. */
export function toLeafFindings({ start, end }: LeafText, found: readonly Finding[]): Finding[] {
  return found
    .filter((finding) => finding.start < finding.end && finding.start < end && finding.end > start)
    .map(({ rule, byPlace, ...span }) => ({
      rule,
      byPlace,
      start: Math.max(span.start, start) - start,
      end: Math.min(span.end, end) - start,
    }));
}

/** What an engine finds in a string, with the help of its name. */
export function scanNamed(engine: Pick<ScrubEngine, 'scan'>, leaf: NamedText): Finding[] {
  const found = engine.scan(leaf.text);
  const named = leafText(leaf.name, leaf.text);
  return named === undefined ? found : mergeFindings([...found, ...toLeafFindings(named, engine.scan(named.text))]);
}

function collectNamesOf(value: Json, name: string | undefined, names: (string | undefined)[]): void {
  if (typeof value === 'string') names.push(name);
  else if (isList(value)) for (const item of value) collectNamesOf(item, name, names);
  else if (typeof value === 'object' && value !== null) {
    const given = givenName(value);
    for (const [key, item] of Object.entries(value)) {
      names.push(undefined);
      collectNamesOf(item, given !== undefined && VALUE_KEYS.has(key.toLowerCase()) ? given : key, names);
    }
  }
}

const NAME_KEYS = ['name', 'Name', 'key', 'Key', 'ParameterKey', 'variable', 'field', 'id'];
const VALUE_KEYS: ReadonlySet<string> = new Set(['value', 'val', 'parametervalue', 'default', 'content', 'text']);

/** The name that an object of a name and a value gives itself. */
function givenName(value: { readonly [key: string]: Json }): string | undefined {
  for (const key of NAME_KEYS) {
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof given === 'string') return given;
  }
  return undefined;
}
