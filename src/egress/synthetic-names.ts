import { NAMES_NET } from './messages.ts';

const FIRST = addressNumber(NAMES_NET.address) + 1;
const COUNT = 2 ** (32 - NAMES_NET.prefix) - 2;

/**
 * One address per name for the programs of a namespace that ignore the proxy variables. The address that such a program
 * connects to tells which name it looked up.
 */
export class SyntheticNames {
  readonly #max: number;
  /** In the order of use: the first one was used longest ago. */
  readonly #addresses = new Map<string, string>();
  readonly #names = new Map<string, string>();
  #next = 0;

  /** `max`: names that are kept. Beyond it the name that was used longest ago loses its address. */
  constructor(max: number) {
    this.#max = max;
  }

  addressOf(name: string): string {
    const known = this.#addresses.get(name);
    const address = known ?? this.#newAddress();
    this.#addresses.delete(name);
    this.#addresses.set(name, address);
    if (known === undefined) this.#names.set(address, name);
    return address;
  }

  /** Null if the address stands for no name, or no longer. */
  nameOf(address: string): string | null {
    return this.#names.get(address) ?? null;
  }

  #newAddress(): string {
    const [oldest] = this.#addresses;
    if (oldest !== undefined && this.#addresses.size >= this.#max) {
      this.#addresses.delete(oldest[0]);
      this.#names.delete(oldest[1]);
    }
    // An address is not used again before millions of names: a client that remembers it reaches nothing else meanwhile.
    let address = addressText(FIRST + (this.#next % COUNT));
    for (; this.#names.has(address); address = addressText(FIRST + (this.#next % COUNT))) this.#next += 1;
    this.#next += 1;
    return address;
  }
}

function addressNumber(text: string): number {
  return text.split('.').reduce((number, byte) => number * 256 + Number(byte), 0);
}

function addressText(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}
