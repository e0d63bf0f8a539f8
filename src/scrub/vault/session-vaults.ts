import { type SessionRef, sessionKey } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import type { RateLimit } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Guard } from './guard.ts';
import { replaceTokens, tokenDigits } from './look-alike.ts';
import { type NumberMemory, type NumberStore, type Unnumbered, unknownSecret } from './secret.ts';
import { Vault, type VaultState } from './vault.ts';

/** Number of vaults above which the least recently used empty ones are dropped: far more than concurrent sessions. */
const EMPTY_AFTER = 1024;

/** The numbers of earlier vaults of a session. */
export interface RecalledNumbers {
  readonly memory: NumberMemory;
  /** Whether the values that a rule finds cannot be guessed by someone who has the hashes. */
  isStrong(rule: string): boolean;
}

/** See `VaultState`. */
export type VaultsState = readonly { readonly session: SessionRef; readonly vault: VaultState }[];

/** The vaults of all sessions, and operations on tokens. Sessions are isolated from each other. */
export class SessionVaults {
  readonly #vaults = new Map<string, Vault>();
  /** Of each vault, by the same key. */
  readonly #sessions = new Map<string, SessionRef>();
  readonly #numbers: NumberStore;
  readonly #clock: Clock;
  readonly #recalled: RecalledNumbers | null;

  /** `recalled`: null if every value of a new vault gets a new number. */
  constructor(numbers: NumberStore, clock: Clock, recalled: RecalledNumbers | null = null) {
    this.#numbers = numbers;
    this.#clock = clock;
    this.#recalled = recalled;
  }

  get size(): number {
    return this.#vaults.size;
  }

  /** Creates the vault on first use. */
  of(session: SessionRef): Vault {
    const vault = this.#vaults.get(sessionKey(session)) ?? new Vault((secret) => this.#numberFor(session, secret));
    this.#vaults.delete(sessionKey(session));
    this.#vaults.set(sessionKey(session), vault);
    this.#sessions.set(sessionKey(session), session);
    if (this.#vaults.size > EMPTY_AFTER) this.#dropEmpty();
    return vault;
  }

  #numberFor(session: SessionRef, { value, rule, isWhole }: Unnumbered): Promise<number> | number {
    const recalled = this.#recalled;
    if (recalled === null || !isWhole || !recalled.isStrong(rule)) return this.#numbers.next(session);
    return this.#sameNumber(session, value, recalled.memory);
  }

  async #sameNumber(session: SessionRef, value: string, memory: NumberMemory): Promise<number> {
    const before = await memory.recall(session, value);
    if (before !== null) return before;
    const number = await this.#numbers.next(session);
    await memory.keep(session, value, number);
    return number;
  }

  /** Drops empty vaults of the least recently used sessions; nothing is lost. */
  #dropEmpty(): void {
    let excess = this.#vaults.size - EMPTY_AFTER;
    for (const [key, vault] of this.#vaults) {
      if (excess-- <= 0) return;
      if (vault.isEmpty) this.#delete(key);
    }
  }

  find(session: SessionRef): Vault | undefined {
    return this.#vaults.get(sessionKey(session));
  }

  guards(): Guard[] {
    return [...this.#vaults.values()].map(({ guard }) => guard);
  }

  /** See `Scrubber.openSecrets`. */
  open(session: SessionRef, text: string, form: 'seen' | 'plain'): string {
    return replaceTokens(text, (digits, start, end) => {
      const vault = this.#with(session, digits);
      return form === 'plain' ? vault.open(digits) : vault.spell(digits, text, start, end);
    });
  }

  /** See `Scrubber.bookOpenings`. */
  book(session: SessionRef, tokens: readonly string[], maxPerHour: number): RateLimit | null {
    const digits = [...new Set(tokens.flatMap(tokenDigits))];
    const now = this.#clock.monotonic();
    for (const one of digits) {
      const waitMs = this.#with(session, one).waitMs(one, maxPerHour, now);
      if (waitMs > 0) throw openedTooOften(one, maxPerHour, waitMs);
    }
    const left = digits.map((one) => this.#with(session, one).book(one, maxPerHour, now, this.#clock.now()));
    return left.reduce<RateLimit | null>(
      (least, one) => (least === null || one.remaining < least.remaining ? one : least),
      null,
    );
  }

  forget(session: SessionRef): void {
    this.#delete(sessionKey(session));
  }

  clear(): void {
    this.#vaults.clear();
    this.#sessions.clear();
  }

  /** As plain data, for the next daemon alone. */
  async state(): Promise<VaultsState> {
    const now = this.#clock.monotonic();
    const filled = [...this.#sessions].flatMap(([key, session]) => {
      const vault = this.#vaults.get(key);
      return vault === undefined || vault.isEmpty ? [] : [{ session, vault }];
    });
    return Promise.all(filled.map(async ({ session, vault }) => ({ session, vault: await vault.state(now) })));
  }

  /** Takes in the vaults of the daemon before. */
  restore(state: VaultsState): void {
    const now = this.#clock.monotonic();
    for (const { session, vault } of state) this.of(session).restore(vault, now);
  }

  #delete(key: string): void {
    this.#vaults.delete(key);
    this.#sessions.delete(key);
  }

  /** Throws SECRET_UNKNOWN for a number that is not in this session's vault. */
  #with(session: SessionRef, digits: string): Vault {
    const vault = this.#vaults.get(sessionKey(session));
    if (vault?.has(digits)) return vault;
    throw unknownSecret(digits);
  }
}

function openedTooOften(digits: string, maxPerHour: number, waitMs: number): ContextdError {
  const isOff = waitMs === Number.POSITIVE_INFINITY;
  return new ContextdError(
    isOff ? 'PERMISSION_DENIED' : 'RATE_LIMITED',
    isOff
      ? 'no token can be opened here: secrets.max_uses_per_hour is 0'
      : `[SECRET_${digits}] was used ${maxPerHour} times within the hour, as often as secrets.max_uses_per_hour allows`,
    {
      remedy: 'A person can allow more: `ctxd config set secrets.max_uses_per_hour NUMBER`.',
      ...(isOff ? {} : { retryAfterMs: waitMs, details: { limit: maxPerHour }, token: `[SECRET_${digits}]` }),
    },
  );
}
