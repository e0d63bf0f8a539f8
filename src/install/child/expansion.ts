import { type FetchLimits, RATIO_FREE_BYTES } from '../limits.ts';
import { tooLarge } from './names.ts';

/** Holds what an archive unpacks to its limits while it is unpacked: whatever the archive says of its sizes. */
export class Expansion {
  readonly #limits: FetchLimits;
  #packed = 0;
  #unpacked = 0;

  constructor(limits: FetchLimits) {
    this.#limits = limits;
  }

  /** Notes bytes of the archive that were read. */
  read(bytes: number): void {
    this.#packed += bytes;
  }

  /** Notes unpacked bytes, of skipped entries too. Throws PAYLOAD_TOO_LARGE. */
  unpack(bytes: number): void {
    this.#unpacked += bytes;
    const { bytes: most, ratio } = this.#limits;
    if (this.#unpacked > most) throw tooLarge(`the archive unpacks to more than ${most} bytes`);
    if (this.#unpacked - RATIO_FREE_BYTES > this.#packed * ratio)
      throw tooLarge(`the archive unpacks to more than ${ratio} times its size, as only a decompression bomb does`);
  }
}
