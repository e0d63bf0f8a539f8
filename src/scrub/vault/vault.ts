import type { RateLimit } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import { type Entry, type EntryState, entryFrom, newEntry, stateOf } from './entry.ts';
import { canonicalOf } from './folded-text.ts';
import { copyText, Guard, type GuardState } from './guard.ts';
import { UNNUMBERED } from './look-alike.ts';
import {
  type KnownSecret,
  type RevealedSecret,
  type SecretContext,
  type SecretUse,
  type Unnumbered,
  unknownSecret,
} from './secret.ts';
import type { SecretSummary } from './secret-summary.ts';

/** Maximum number of numbered secrets per session; further ones are masked without a number. */
const MAX_ENTRIES = 2000;
/** Maximum number of new values per answer that are searched for in all forms; the others only verbatim. */
const MAX_LEARNED = 256;
/** Work between two yields, a few milliseconds: values in all forms, or 64 times as many verbatim ones. */
const LEARNED_AT_ONCE = 16;
const AS_IT_IS_SHARE = 1 / 64;

/** Maximum length in characters. Longer values are not kept, and are masked without a number. */
const MAX_VALUE_CHARS = 65_536;
/** Maximum number of characters of all values of a session, in all spellings. */
const MAX_TOTAL_CHARS = 16 * 1024 * 1024;

/** A vault as plain data. It may only be given to the next daemon, over a socket that no other process can open. */
export interface VaultState {
  readonly guard: GuardState;
  readonly byValue: readonly EntryState[];
  readonly apart: readonly EntryState[];
  readonly inner: ReadonlyMap<string, readonly string[]>;
  readonly isToldOf: boolean;
}

/** A secret as it occurs in an answer. */
interface Used {
  text: string;
  value: string;
  rule: string;
  context: SecretContext;
}

/** The secrets of one session, in memory only: values by number, and the guard that finds them. */
export class Vault {
  readonly guard = new Guard();
  readonly #numberFor: (secret: Unnumbered) => Promise<number> | number;
  /** Keyed by canonical value. Holds promises, so that two concurrent answers give a secret the same number. */
  readonly #byValue = new Map<string, Promise<Entry>>();
  /** Keyed by spelling and value: secrets with a separate token for one spelling. */
  readonly #apart = new Map<string, Promise<Entry>>();
  readonly #byDigits = new Map<string, Entry>();
  readonly #inner = new Map<string, readonly string[]>();
  #chars = 0;
  #isToldOf = false;
  #refusedBefore = 0;

  constructor(numberFor: (secret: Unnumbered) => Promise<number> | number) {
    this.#numberFor = numberFor;
  }

  /** Waits for numbers that are being given. `now`: monotonic milliseconds, as for `book`. */
  async state(now: number): Promise<VaultState> {
    const all = async (entries: ReadonlyMap<string, Promise<Entry>>): Promise<EntryState[]> => {
      const settled = await Promise.allSettled(
        [...entries].map(async ([key, entry]) => stateOf(key, await entry, now)),
      );
      return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    };
    return {
      guard: this.guard.state,
      byValue: await all(this.#byValue),
      apart: await all(this.#apart),
      inner: this.#inner,
      isToldOf: this.#isToldOf,
    };
  }

  /** Takes in the vault of the daemon before. */
  restore({ guard, byValue, apart, inner, isToldOf }: VaultState, now: number): void {
    this.guard.restore(guard);
    for (const one of byValue) this.#restoreEntry(this.#byValue, one, now);
    for (const one of apart) this.#restoreEntry(this.#apart, one, now);
    for (const [value, texts] of inner) this.#rememberInner(value, texts);
    this.#isToldOf = isToldOf;
  }

  #restoreEntry(entries: Map<string, Promise<Entry>>, state: EntryState, now: number): void {
    const entry = entryFrom(state, now);
    this.#chars += entry.value.length + entry.spellings.chars;
    entries.set(state.key, Promise.resolve(entry));
    this.#byDigits.set(digitsOf(entry.summary.token), entry);
  }

  /** True if the vault holds neither learned values nor numbers. */
  get isEmpty(): boolean {
    return this.guard.size === 0 && this.#byValue.size === 0;
  }

  /** Number of numbered secrets. */
  get size(): number {
    return this.#byDigits.size;
  }

  /**
   * Masks the value everywhere in this session from now on, without giving it a number. The guard ignores short values
   * and plain words; these are masked only where a rule finds them.
   */
  learn(value: string, rule: string): void {
    this.guard.add(value, rule);
  }

  /**
   * Learns the values of one answer. Yields every few milliseconds, to free the thread. To bound the time for an answer
   * of thousands of secrets, only its first 256 unknown values are searched for in all forms, further ones verbatim
   * until they occur again.
   */
  *learnAll(values: Iterable<KnownSecret>): Generator<void, void, void> {
    let learned = 0;
    let work = 0;
    for (const { value, rule, inner } of values) {
      if (inner !== undefined) this.#rememberInner(value, inner);
      const isFull = learned < MAX_LEARNED;
      const added = this.guard.add(value, rule, isFull ? 'all' : 'as it is');
      if (isFull) learned += added;
      work += isFull ? added : AS_IT_IS_SHARE;
      if (work < LEARNED_AT_ONCE) continue;
      work = 0;
      yield;
    }
  }

  /** The secrets encoded in a known value, if it contains nothing else. */
  innerOf(value: string): readonly string[] | undefined {
    return this.#inner.get(value);
  }

  #rememberInner(value: string, inner: readonly string[]): void {
    if (this.#inner.has(value) || this.#inner.size >= MAX_ENTRIES || !this.#hasRoomFor(value)) return;
    const copies = inner.map(copyText);
    this.#chars += value.length + copies.reduce((sum, { length }) => sum + length, 0);
    this.#inner.set(copyText(value), copies);
  }

  /**
   * Returns the token of a text, with the rule that found it first. A secret has one token for the whole session and
   * all spellings. `[SECRET]` if the secret cannot be kept.
   */
  use(text: string, rule: string, context: SecretContext = {}): Promise<SecretUse> {
    const value = canonicalOf(context.of ?? text);
    return this.#use(this.#byValue, value, { text, value, rule, context });
  }

  /** Like `use`, but the token stands for exactly this text. For a place where `take` refused the secret's token. */
  useApart(text: string, rule: string, context: SecretContext = {}): Promise<SecretUse> {
    const value = canonicalOf(context.of ?? text);
    return this.#use(this.#apart, `${text.length} ${text}${value}`, { text, value, rule, context });
  }

  /**
   * Records that `token` stands for `spelling` in an answer, `shown`. Returns false if a file with this part of the
   * answer would get another spelling: then use another token there.
   */
  take(token: string, spelling: string, shown: string, start: number): boolean {
    const entry = this.#byDigits.get(digitsOf(token));
    if (entry === undefined) return true;
    const before = entry.spellings.chars;
    const isTaken = entry.spellings.take(spelling, shown, start, start + token.length);
    this.#chars += entry.spellings.chars - before;
    return isTaken;
  }

  /** Whether a token stands for several spellings. */
  isAmbiguous(token: string): boolean {
    return (this.#byDigits.get(digitsOf(token))?.spellings.size ?? 0) > 1;
  }

  /** The value for a number, as written in a token. Throws SECRET_UNKNOWN for a number that is not in this vault. */
  open(digits: string): string {
    return this.#entry(digits).value;
  }

  /** The spelling that a token in a text stood for where the agent saw it. Throws SECRET_UNKNOWN like `open`. */
  spell(digits: string, text: string, start: number, end: number): string {
    const entry = this.#entry(digits);
    return entry.spellings.at(text, start, end) ?? entry.value;
  }

  has(digits: string): boolean {
    return this.#byDigits.has(digits);
  }

  /** Milliseconds until the secret may be opened again, given `max` openings per hour; 0: now. */
  waitMs(digits: string, max: number, monotonicNow: number): number {
    return this.#entry(digits).budget.waitMs(max, monotonicNow);
  }

  /** Counts one opening and returns what is left of `max`. `now`: milliseconds since the epoch. */
  book(digits: string, max: number, monotonicNow: number, now: number): RateLimit {
    const { budget, summary } = this.#entry(digits);
    budget.book(monotonicNow);
    summary.opened += 1;
    summary.lastOpenedAt = now;
    return budget.left(max, monotonicNow);
  }

  /** Everything about one secret, for a person. Throws SECRET_UNKNOWN like `open`. */
  reveal(digits: string): RevealedSecret {
    const { summary, value, call } = this.#entry(digits);
    return { summary: { ...summary }, value, call };
  }

  /** True only for the first call. */
  tellOnce(): boolean {
    const isFirst = !this.#isToldOf;
    this.#isToldOf = true;
    return isFirst;
  }

  /** How many values the guard had no room for since the last call. */
  unremembered(): number {
    const fresh = this.guard.refused - this.#refusedBefore;
    this.#refusedBefore = this.guard.refused;
    return fresh;
  }

  /** Sorted by number. */
  list(): SecretSummary[] {
    return [...this.#byDigits].sort(([a], [b]) => Number(a) - Number(b)).map(([, { summary }]) => ({ ...summary }));
  }

  #entry(digits: string): Entry {
    const entry = this.#byDigits.get(digits);
    if (entry === undefined) throw unknownSecret(digits);
    return entry;
  }

  #hasRoomFor(value: string): boolean {
    return (
      this.#byValue.size + this.#apart.size < MAX_ENTRIES &&
      value.length <= MAX_VALUE_CHARS &&
      this.#chars + value.length <= MAX_TOTAL_CHARS
    );
  }

  async #use(
    entries: Map<string, Promise<Entry>>,
    key: string,
    { text, value, rule, context }: Used,
  ): Promise<SecretUse> {
    const known = entries.get(key);
    if (known === undefined && !this.#hasRoomFor(value)) return { token: UNNUMBERED, rule };
    const entry = await (known ?? this.#admit(entries, copyText(key), { value: copyText(value), rule, context }));
    if (!this.#canKeep(entry, text)) return { token: UNNUMBERED, rule };
    entry.summary.uses += 1;
    return { token: entry.summary.token, rule: entry.summary.rule };
  }

  #admit(
    entries: Map<string, Promise<Entry>>,
    key: string,
    { value, rule, context }: Omit<Used, 'text'>,
  ): Promise<Entry> {
    this.#chars += value.length;
    const entry = this.#number({ value, rule, isWhole: entries === this.#byValue }, context);
    entries.set(key, entry);
    entry.catch(() => {
      entries.delete(key);
      this.#chars -= value.length;
    });
    return entry;
  }

  async #number(secret: Unnumbered, context: SecretContext): Promise<Entry> {
    const number = await this.#numberFor(secret);
    const digits = String(number);
    if (!Number.isSafeInteger(number) || number < 1 || this.#byDigits.has(digits))
      throw new ContextdError('INTERNAL_ERROR', `the number ${digits} cannot be given to a secret`);
    const entry = newEntry(secret, number, context);
    this.#byDigits.set(digits, entry);
    return entry;
  }

  /** Whether there is room for a spelling. */
  #canKeep({ spellings }: Entry, text: string): boolean {
    const isTooMuch = text.length > MAX_VALUE_CHARS || this.#chars + text.length > MAX_TOTAL_CHARS;
    return !isTooMuch || spellings.has(text);
  }
}

function digitsOf(token: string): string {
  return token.slice('[SECRET_'.length, -1);
}
