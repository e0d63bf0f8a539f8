import { Allowlist } from './allowlist.ts';
import type { GitleaksConfig, RequiredConfig, RuleConfig } from './config.ts';
import type { Pass } from './decode-pass.ts';
import { KeywordIndex } from './keyword-index.ts';
import { Pattern } from './pattern.ts';
import { Rule } from './rule.ts';
import { areFew, windowsAround } from './windows.ts';

export interface RuleIndexOptions {
  /**
   * `now` (default): every pattern is compiled, and a bad one is SCHEMA_INVALID naming file and rule. `when used`:
   * compiled at the first text with a keyword of the rule, for rules that another engine of the program has already
   * compiled.
   */
  compile?: 'now' | 'when used';
  /** Applied to a rule before it is compiled. Default: rules apply as they are written. */
  rewrite?: (rule: RuleConfig) => RuleConfig;
}

/** The rules of some configurations, and which of them a text needs. */
export class RuleIndex {
  readonly #slots: Slot[] = [];
  readonly #keywords: KeywordIndex;
  /** By the keyword's id in the index. */
  readonly #slotsOf: Slot[][] = [];
  readonly #always: Slot[];
  /** Characters of the longest keyword. */
  readonly #longest: number;
  readonly #shared = new Map<GitleaksConfig, SharedAllowlists>();

  constructor(configs: readonly GitleaksConfig[], options: RuleIndexOptions) {
    const { rewrite = (rule) => rule } = options;
    for (const config of configs) {
      const shared = new SharedAllowlists(config);
      this.#shared.set(config, shared);
      for (const rule of config.rules)
        this.#slots.push(new Slot(rule, config, { shared, rewrite }, this.#slots.length));
    }
    const keywords = this.#listKeywords();
    this.#keywords = new KeywordIndex(keywords);
    this.#longest = Math.max(0, ...keywords.map(({ length }) => length));
    this.#always = this.#slots.filter(({ config }) => config.keywords.length === 0);
    if (options.compile !== 'when used') this.#compileAll(configs);
  }

  get ruleCount(): number {
    return this.#slots.length;
  }

  /** The rules without keywords, and those with a keyword in the text. */
  dueFor(text: string): Slot[] {
    const due = [...this.#always];
    const isDue = new Uint8Array(this.#slots.length);
    for (const id of this.#keywords.find(text))
      for (const slot of this.#slotsOf[id] ?? []) {
        if (isDue[slot.position] === 0) due.push(slot);
        isDue[slot.position] = 1;
      }
    return due;
  }

  /** The rules that a pass needs. `before`: those that the pass before it needed. */
  dueIn({ text, segments }: Pass, before: Due | undefined): Due {
    const windows = windowsAround(
      text,
      segments.map(({ decoded }) => decoded),
      this.#longest,
    );
    if (before === undefined || segments.length === 0 || !areFew(text, windows))
      return new Due(this.dueFor(text), null);
    // Only decoded text brings new keywords; that the others are still there is checked if their rules find something.
    const fresh = this.dueFor(windows.map(({ start, end }) => text.slice(start, end)).join('\0'));
    return new Due([...new Set([...before.slots, ...fresh])], () => this.dueFor(text));
  }

  isPathExcused(file: GitleaksConfig, path: string): boolean {
    return path !== '' && this.#shared.get(file)?.compiled.some((list) => list.excusesPath(path)) === true;
  }

  /** A rule of the same configuration. */
  siblingOf(slot: Slot, id: string): Slot | undefined {
    return this.#slots.find(({ config, file }) => file === slot.file && config.id === id);
  }

  #listKeywords(): string[] {
    const ids = new Map<string, number>();
    for (const slot of this.#slots)
      for (const keyword of slot.config.keywords) {
        // gitleaks' own search never finds the empty keyword.
        if (keyword === '') continue;
        const id = ids.get(keyword) ?? ids.size;
        ids.set(keyword, id);
        const slots = this.#slotsOf[id];
        if (slots === undefined) this.#slotsOf[id] = [slot];
        else slots.push(slot);
      }
    return [...ids.keys()];
  }

  /** Patterns of disabled or replaced rules are compiled once too, so that a bad one is refused. */
  #compileAll(configs: readonly GitleaksConfig[]): void {
    const compiled = new Set<string>();
    for (const slot of this.#slots) {
      const { config, file } = slot;
      slot.compileAsWritten();
      compiled.add(config.regex).add(config.path);
      for (const list of [...config.allowlists, ...file.allowlists])
        for (const source of [...list.regexes, ...list.paths]) compiled.add(source);
    }
    for (const { patterns } of configs)
      for (const { source, where } of patterns) if (!compiled.has(source)) new Pattern(source, where);
  }
}

/** The rules that a pass needs. */
export class Due {
  readonly slots: readonly Slot[];
  readonly #confirm: (() => readonly Slot[]) | null;

  /** `confirm`: which of them have a keyword in the text, in the order in which they are needed; null: all. */
  constructor(slots: readonly Slot[], confirm: (() => readonly Slot[]) | null) {
    this.slots = slots;
    this.#confirm = confirm;
  }

  /** What the rules that are needed found, of all that was found. */
  confirmed<T>(found: ReadonlyMap<Slot, readonly T[]>): T[] {
    if (found.size === 0) return [];
    const slots = this.#confirm?.() ?? this.slots;
    return slots.flatMap((slot) => found.get(slot) ?? []);
  }
}

/** A rule and its configuration; compiled when first asked for. */
export class Slot {
  readonly config: RuleConfig;
  readonly file: GitleaksConfig;
  readonly position: number;
  readonly #how: Compiling;
  #written: Rule | undefined;
  #rule: Rule | undefined;

  constructor(config: RuleConfig, file: GitleaksConfig, how: Compiling, position: number) {
    this.config = config;
    this.file = file;
    this.position = position;
    this.#how = how;
  }

  /** SCHEMA_INVALID for a pattern that Go would refuse. A valid pattern stays valid when it is rewritten. */
  compileAsWritten(): void {
    this.#written ??= new Rule(this.config, this.#how.shared.compiled);
  }

  get rule(): Rule {
    this.#rule ??= this.#rewritten();
    return this.#rule;
  }

  #rewritten(): Rule {
    const config = this.#how.rewrite(this.config);
    if (config === this.config && this.#written !== undefined) return this.#written;
    return new Rule(config, this.#how.shared.compiled);
  }
}

interface Compiling {
  shared: SharedAllowlists;
  rewrite(rule: RuleConfig): RuleConfig;
}

/** The allowlists of a configuration, compiled once for all its rules. */
class SharedAllowlists {
  readonly #config: GitleaksConfig;
  #compiled: readonly Allowlist[] | undefined;

  constructor(config: GitleaksConfig) {
    this.#config = config;
  }

  get compiled(): readonly Allowlist[] {
    this.#compiled ??= this.#config.allowlists.map((list) => new Allowlist(list));
    return this.#compiled;
  }
}

interface Point {
  startLine: number;
  startColumn: number;
}

/**
 * Returns the points that have a finding of every required rule near them. A rule that is required twice must be near
 * by one of the two limits.
 */
export function withRequired<P extends Point>(
  points: readonly P[],
  required: readonly RequiredConfig[],
  find: (id: string) => readonly Point[],
): P[] {
  if (required.length === 0 || points.length === 0) return [...points];
  const neighbours = [...new Set(required.map(({ id }) => id))].map((id) => ({
    limits: required.filter((one) => one.id === id),
    found: find(id),
  }));
  return points.filter((point) =>
    neighbours.every(({ limits, found }) => limits.some((limit) => found.some((other) => isNear(point, other, limit)))),
  );
}

function isNear(one: Point, other: Point, { withinLines, withinColumns }: RequiredConfig): boolean {
  const lines = Math.abs(one.startLine - other.startLine);
  const columns = Math.abs(one.startColumn - other.startColumn);
  return (
    !(withinLines !== undefined && lines > withinLines) && !(withinColumns !== undefined && columns > withinColumns)
  );
}
