import { FRAME_DEFAULT_MAX_BYTES, WINDOW_DEFAULT_BYTES, WINDOW_LIMIT_BYTES } from './frames.ts';

/** What the peer lets us send now: its two windows and its largest frame (RFC 9113 §5.2, §6.9). */
export class SendWindow {
  #connectionBytes = WINDOW_DEFAULT_BYTES;
  /** Below zero when the peer shrank the window after we had used it. */
  #streamBytes = WINDOW_DEFAULT_BYTES;
  #initialBytes = WINDOW_DEFAULT_BYTES;
  frameMaxBytes = FRAME_DEFAULT_MAX_BYTES;

  /** Bytes the next DATA frame may carry, 0 when the peer has to give more first. */
  get available(): number {
    return Math.max(0, Math.min(this.#connectionBytes, this.#streamBytes, this.frameMaxBytes));
  }

  spend(bytes: number): void {
    this.#connectionBytes -= bytes;
    this.#streamBytes -= bytes;
  }

  /** SETTINGS_INITIAL_WINDOW_SIZE moves the open stream's window by the difference. */
  setInitial(bytes: number): void {
    this.#streamBytes = checked(this.#streamBytes + bytes - this.#initialBytes);
    this.#initialBytes = bytes;
  }

  grantConnection(bytes: number): void {
    this.#connectionBytes = checked(this.#connectionBytes + bytes);
  }

  grantStream(bytes: number): void {
    this.#streamBytes = checked(this.#streamBytes + bytes);
  }
}

function checked(bytes: number): number {
  if (bytes > WINDOW_LIMIT_BYTES) throw new RangeError(`a flow-control window of ${bytes} bytes`);
  return bytes;
}
