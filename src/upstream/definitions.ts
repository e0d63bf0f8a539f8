import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { isDeeperThan } from '../core/json-depth.ts';
import { headerFault } from './header-declarations.ts';

/** What is taken of each list of one server. The largest of 44 well-known servers has 118 tools of 280 KiB in all. */
export const DEFINITION_BOUNDS = {
  /** Requests for further pages. */
  pages: 64,
  /** Entries that are looked at, for each that may be taken. */
  entriesForOne: 4,
  /** Of all pages, after which no further page is asked for. */
  pagesBytes: 16 * 1024 * 1024,
  definitionBytes: 128 * 1024,
  allBytes: 2 * 1024 * 1024,
  depth: 48,
} as const;

interface KindRow {
  readonly plural: string;
  /** The field by which one is named. */
  readonly key: string;
  readonly keyMaxChars: number;
  readonly most: number;
  /** What agents are shown, or what decides how it is used. Icons are not. */
  readonly fields: readonly string[];
  /**
   * Whether a person accepts its definition. A resource takes no arguments, and lists of them change as files do: one is data
   * like what is read from it.
   */
  readonly isAccepted: boolean;
}

const SHOWN = ['title', 'description', 'annotations', '_meta'] as const;
const URI_MAX_CHARS = 4_096;

/** What a server offers, by the lists of the protocol. */
export const DEFINITION_KINDS = {
  tool: {
    plural: 'tools',
    key: 'name',
    keyMaxChars: 256,
    most: 512,
    fields: ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', '_meta'],
    isAccepted: true,
  },
  resource: {
    plural: 'resources',
    key: 'uri',
    keyMaxChars: URI_MAX_CHARS,
    most: 4_096,
    fields: ['uri', 'name', ...SHOWN, 'mimeType', 'size'],
    isAccepted: false,
  },
  template: {
    plural: 'resource templates',
    key: 'uriTemplate',
    keyMaxChars: URI_MAX_CHARS,
    most: 512,
    fields: ['uriTemplate', 'name', ...SHOWN, 'mimeType'],
    isAccepted: true,
  },
  prompt: {
    plural: 'prompts',
    key: 'name',
    keyMaxChars: 256,
    most: 512,
    fields: ['name', ...SHOWN, 'arguments'],
    isAccepted: true,
  },
} as const satisfies Record<string, KindRow>;

export type DefinitionKind = keyof typeof DEFINITION_KINDS;

/** A definition as it is compared and stored: the same text for the same definition. */
export interface SeenTool {
  /** Absent: a tool. */
  readonly kind?: DefinitionKind;
  /** Of a resource its URI. */
  readonly name: string;
  readonly text: string;
}

/** What a server listed, as far as it is used. */
export interface SeenTools {
  readonly tools: readonly SeenTool[];
  /** What was left out, and why; one clause each. */
  readonly leftOut: readonly string[];
}

/** Reasons that are kept; a server may list any number of tools that cannot be used. */
const LEFT_OUT_MAX = 20;

/** Collects the pages of one list within the bounds. Of two with the same name or URI the first counts. */
export class DefinitionCollector {
  readonly #kind: DefinitionKind;
  readonly #taken = new Map<string, string>();
  readonly #leftOut: string[] = [];
  readonly #hasHeaders: boolean;
  #bytes = 0;
  #pagesBytes = 0;
  #entries = 0;
  /** Why the list is not read further. */
  #end: string | null = null;

  /** `hasHeaders`: the server may want arguments as headers, so a tool that declares them wrongly is left out. */
  constructor(kind: DefinitionKind = 'tool', { hasHeaders = false } = {}) {
    this.#kind = kind;
    this.#hasHeaders = hasHeaders;
  }

  /** False: the list has ended, and a further page is of no use. Entries that are left out by their names are not copied. */
  add(entries: readonly object[]): boolean {
    const { key } = DEFINITION_KINDS[this.#kind];
    const most = mostEntries(this.#kind);
    for (const entry of entries) {
      if (this.#entries >= most) return this.#endWith(`the list has more than ${most} entries`);
      this.#entries += 1;
      const named: unknown = Reflect.get(entry, key);
      const name = typeof named === 'string' ? named : '';
      const fault = this.#faultOf(name) ?? this.#take(name, entry);
      if (fault !== null) this.leaveOut(JSON.stringify(name.slice(0, 64)), fault);
    }
    return true;
  }

  /** Counts a page. False: as `add`. */
  takePage(bytes: number): boolean {
    const { pagesBytes } = DEFINITION_BOUNDS;
    this.#pagesBytes += bytes;
    return this.#pagesBytes <= pagesBytes || this.#endWith(`the pages have more than ${pagesBytes} bytes`);
  }

  leaveOut(what: string, why: string): void {
    if (this.#leftOut.length < LEFT_OUT_MAX) this.#leftOut.push(`${what}: ${why}`);
  }

  result(): SeenTools {
    const kind = this.#kind;
    const named = kind === 'tool' ? {} : { kind };
    const tools = Array.from(this.#taken, ([name, text]) => ({ ...named, name, text }));
    if (this.#end === null) return { tools, leftOut: this.#leftOut };
    return { tools, leftOut: [...this.#leftOut.slice(0, LEFT_OUT_MAX - 1), this.#end] };
  }

  #endWith(why: string): false {
    this.#end ??= `the rest of the ${DEFINITION_KINDS[this.#kind].plural}: ${why}`;
    return false;
  }

  /** Why an entry of this name is left out; null if it may be taken. */
  #faultOf(name: string): string | null {
    const { plural, key, keyMaxChars, most } = DEFINITION_KINDS[this.#kind];
    if (name === '' || name.length > keyMaxChars) return `its ${key} does not have 1 to ${keyMaxChars} characters`;
    if (this.#taken.has(name)) return `another ${plural.slice(0, -1)} has the same ${key}`;
    return this.#taken.size >= most ? `the server has more than ${most} ${plural}` : null;
  }

  /** Why the entry is left out; null if it is taken. */
  #take(name: string, entry: object): string | null {
    const { definitionBytes, allBytes, depth } = DEFINITION_BOUNDS;
    const { plural } = DEFINITION_KINDS[this.#kind];
    const text = definitionText(this.#kind, JSON.parse(JSON.stringify(entry)));
    if (isDeeperThan(depth, text)) return `its definition is nested deeper than ${depth}`;
    const header = this.#hasHeaders ? headerFault(JSON.parse(text).inputSchema ?? null) : null;
    if (header !== null) return header;
    const bytes = Buffer.byteLength(text);
    if (bytes > definitionBytes) return `its definition has ${bytes} bytes; ${definitionBytes} are allowed`;
    if (this.#bytes + bytes > allBytes) return `the definitions of its ${plural} have more than ${allBytes} bytes`;
    this.#bytes += bytes;
    this.#taken.set(name, text);
    return null;
  }
}

function mostEntries(kind: DefinitionKind): number {
  return DEFINITION_KINDS[kind].most * DEFINITION_BOUNDS.entriesForOne;
}

/**
 * Shortens the list of a page to one entry more than is looked at, before all of it is validated. `key`: the field of the
 * result that has the list.
 */
export function shortenPage(kind: DefinitionKind, result: object, key: string): void {
  const list: unknown = Reflect.get(result, key);
  if (Array.isArray(list)) list.splice(mostEntries(kind) + 1);
}

/** The fields in a fixed order, and the keys of objects in order. */
export function definitionText(kind: DefinitionKind, whole: JsonObject): string {
  const { fields } = DEFINITION_KINDS[kind];
  return JSON.stringify(
    Object.fromEntries(fields.flatMap((field) => (field in whole ? [[field, sorted(whole[field])]] : []))),
  );
}

function sorted(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item) ?? null);
  if (!isJsonObject(value)) return value;
  // Without a prototype a key may be `__proto__`.
  const copy: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(value).sort()) copy[key] = sorted(value[key]) ?? null;
  return copy;
}

/** Identifies a list of definitions, whatever its order. */
export function definitionsHash(seen: readonly SeenTool[]): string {
  const hash = createHash('sha256');
  for (const [key, { text }] of [...byKey(seen)].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify([key, text]));
  return hash.digest('hex');
}

/** What a person accepts of it. */
export function acceptable(seen: readonly SeenTool[]): SeenTool[] {
  return seen.filter(({ kind = 'tool' }) => DEFINITION_KINDS[kind].isAccepted);
}

export type ToolChangeKind = 'new' | 'changed' | 'removed';

/** A tool, prompt or template whose definition is not the one that a person accepted. */
export interface ToolChange {
  /** The name of a tool; otherwise the kind and the name. */
  readonly tool: string;
  readonly kind: ToolChangeKind;
  /** As definitions, indented; empty for a definition that does not exist. */
  readonly before: string;
  readonly after: string;
}

/** Tools first, then the other kinds; each sorted by name. */
export function changesBetween(accepted: readonly SeenTool[], seen: readonly SeenTool[]): ToolChange[] {
  const [before, after] = [byKey(acceptable(accepted)), byKey(acceptable(seen))];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    const one = now ?? old;
    if (one === undefined || old?.text === now?.text) return [];
    const kind = old === undefined ? 'new' : now === undefined ? 'removed' : 'changed';
    return [{ tool: labelOf(one), kind, before: indented(old), after: indented(now) }];
  });
}

/** What the server has as a person accepted it, in the order of the accepted list, then the resources that it has now. */
export function unchanged(accepted: readonly SeenTool[], seen: readonly SeenTool[]): SeenTool[] {
  const now = byKey(seen);
  const kept = acceptable(accepted).filter((one) => now.get(keyOf(one))?.text === one.text);
  return [...kept, ...seen.filter(({ kind = 'tool' }) => !DEFINITION_KINDS[kind].isAccepted)];
}

/** What differs between the two: changed definitions as they were and as they are, new ones, and those that are gone. */
export function differing(accepted: readonly SeenTool[], seen: readonly SeenTool[]): SeenTool[] {
  const [before, after] = [byKey(acceptable(accepted)), byKey(acceptable(seen))];
  return [
    ...[...before.values()].filter((one) => after.get(keyOf(one))?.text !== one.text),
    ...[...after.values()].filter((one) => before.get(keyOf(one))?.text !== one.text),
  ];
}

function byKey(seen: readonly SeenTool[]): Map<string, SeenTool> {
  return new Map(seen.map((one) => [keyOf(one), one]));
}

/** Two kinds never have the same: what is accepted is what was shown. */
function keyOf({ kind = 'tool', name }: SeenTool): string {
  return `${kind === 'tool' ? '' : kind}\0${name}`;
}

function labelOf({ kind = 'tool', name }: SeenTool): string {
  return kind === 'tool' ? name : `${kind} ${name}`;
}

function indented(one: SeenTool | undefined): string {
  return one === undefined ? '' : JSON.stringify(JSON.parse(one.text), null, 2);
}
