import { isUtf8 } from 'node:buffer';

/** Lines that are shown. */
const LINES_MAX = 40;
/** Bytes of a file that are kept for it. */
const BYTES_MAX = 8 * 1024;

/** The beginning of some content for a person, taken from the very bytes that are hashed. */
export class Preview {
  readonly #bytes: Buffer[] = [];
  #kept = 0;
  #isCut = false;
  readonly #names: string[] = [];
  #link: string | null = null;

  addBytes(bytes: Buffer): void {
    const part = bytes.subarray(0, BYTES_MAX - this.#kept);
    if (part.length < bytes.length) this.#isCut = true;
    if (part.length === 0) return;
    this.#bytes.push(Buffer.from(part));
    this.#kept += part.length;
  }

  addName(name: string, isDirectory: boolean): void {
    if (this.#names.length > LINES_MAX) return;
    this.#names.push(`${Buffer.from(name, 'latin1').toString()}${isDirectory ? '/' : ''}`);
  }

  addLink(text: Buffer): void {
    this.#link = text.toString();
  }

  /** Null for bytes that are not text, and if there is nothing. */
  text(): string | null {
    if (this.#link !== null) return `-> ${this.#link}`;
    if (this.#names.length > 0) return firstLines(this.#names, false);
    const bytes = Buffer.concat(this.#bytes);
    const whole = this.#isCut ? withoutTornCharacter(bytes) : bytes;
    if (whole.length === 0 || whole.includes(0) || !isUtf8(whole)) return null;
    return firstLines(whole.toString().replace(/\n$/, '').split('\n'), this.#isCut);
  }
}

function firstLines(lines: readonly string[], isCut: boolean): string {
  const isMore = isCut || lines.length > LINES_MAX;
  return [...lines.slice(0, LINES_MAX), ...(isMore ? ['…'] : [])].join('\n');
}

/** UTF-8 up to the last character that is complete. */
function withoutTornCharacter(bytes: Buffer): Buffer {
  for (let end = bytes.length; end > bytes.length - 4 && end > 0; end--) {
    if (isUtf8(bytes.subarray(0, end))) return bytes.subarray(0, end);
  }
  return bytes;
}
