import { createHmac } from 'node:crypto';
import { ContextdError } from '../../core/errors.ts';
import { copyText, Guard } from './guard.ts';
import { tokenOf, UNNUMBERED } from './look-alike.ts';

/** Hands out the numbers of a session's secrets. Its counter outlives the daemon; values do not. */
export interface NumberStore {
  next(sessionKey: string): Promise<number> | number;
}

export interface SecretUse {
  token: string;
  rule: string;
}

/** Numbered secrets of one session; what is found beyond them is masked without a number. */
const MAX_ENTRIES = 2000;
/** Characters. A longer value is masked without a number: it is not kept. */
const MAX_VALUE_CHARS = 65_536;
/** Characters of all values of a session together. */
const MAX_TOTAL_CHARS = 16 * 1024 * 1024;

/** The secrets of one session, in memory only: number to value, and the guard that knows them on sight. */
export class Vault {
  readonly guard = new Guard();
  readonly #key: Buffer;
  readonly #nextNumber: () => Promise<number> | number;
  /** HMAC of a value to its use. A promise, so that two answers at once give one secret one number. */
  readonly #uses = new Map<string, Promise<SecretUse>>();
  readonly #values = new Map<string, string>();
  #chars = 0;

  /** `key` makes the identities of values; random and for this process only. */
  constructor(key: Buffer, nextNumber: () => Promise<number> | number) {
    this.#key = key;
    this.#nextNumber = nextNumber;
  }

  /** Numbered secrets. */
  get size(): number {
    return this.#values.size;
  }

  /** From now on the value is masked wherever it shows in this session. It gets no number by that. */
  learn(value: string, rule: string): void {
    this.guard.add(value, rule);
  }

  /** The token of a value: the same for the whole session. Keeps the rule that found it first. */
  async use(value: string, rule: string): Promise<SecretUse> {
    const identity = createHmac('sha256', this.#key).update(Buffer.from(value, 'utf16le')).digest('base64');
    const known = this.#uses.get(identity);
    if (known !== undefined) return known;
    if (!this.#hasRoomFor(value)) return { token: UNNUMBERED, rule };
    this.#chars += value.length;
    const use = this.#number(copyText(value), rule);
    this.#uses.set(identity, use);
    use.catch(() => {
      this.#uses.delete(identity);
      this.#chars -= value.length;
    });
    return use;
  }

  /** The value of a number as written in a token. SECRET_UNKNOWN for a number this session's vault does not hold. */
  open(digits: string): string {
    const value = this.#values.get(digits);
    if (value === undefined) throw unknownSecret(digits);
    return value;
  }

  #hasRoomFor(value: string): boolean {
    return (
      this.#uses.size < MAX_ENTRIES && value.length <= MAX_VALUE_CHARS && this.#chars + value.length <= MAX_TOTAL_CHARS
    );
  }

  async #number(value: string, rule: string): Promise<SecretUse> {
    const number = await this.#nextNumber();
    const digits = String(number);
    if (!Number.isSafeInteger(number) || number < 1 || this.#values.has(digits))
      throw new ContextdError('INTERNAL_ERROR', `the number ${digits} cannot be given to a secret`);
    this.#values.set(digits, value);
    return { token: tokenOf(number), rule };
  }
}

export function unknownSecret(digits: string): ContextdError {
  return new ContextdError('SECRET_UNKNOWN', `[SECRET_${digits}] is not a secret of this session`, {
    remedy: 'Use a token from an answer of this session; after a restart of the daemon, read the source again first.',
    details: { token: `[SECRET_${digits}]` },
  });
}
