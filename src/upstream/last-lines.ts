import { StringDecoder } from 'node:string_decoder';
import { foreignLine } from '../text/foreign-line.ts';

const LINES_MAX = 20;
const LINE_MAX_CHARS = 300;

/** The last lines of a stream, for a person who looks for the cause of a failure. */
export class LastLines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #lines: string[] = [];
  #open = '';

  add(bytes: Buffer): void {
    // Whatever is printed at once, only the end of it can be among the last lines.
    const text = this.#open + this.#decoder.write(bytes.subarray(-LINES_MAX * LINE_MAX_CHARS * 4));
    const lines = text.split('\n');
    this.#open = (lines.pop() ?? '').slice(0, LINE_MAX_CHARS * 4);
    for (const line of lines) this.line(line);
  }

  line(text: string): void {
    const line = foreignLine(text.slice(0, LINE_MAX_CHARS * 4)).slice(0, LINE_MAX_CHARS);
    if (line === '') return;
    this.#lines.push(line);
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
  }

  /** Oldest first. */
  get lines(): readonly string[] {
    const open = foreignLine(this.#open).slice(0, LINE_MAX_CHARS);
    return open === '' ? [...this.#lines] : [...this.#lines, open].slice(-LINES_MAX);
  }
}
