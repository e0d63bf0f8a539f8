import { isDeeperThan } from '../core/json-depth.ts';
import { MESSAGE_BOUNDS } from './line-transport.ts';

/** An empty line ends an event. */
const EVENT_ENDS = ['\n\n', '\r\r', '\n\r\n'];
const TAIL_BYTES = 2;
const LINE_END = /\r\n|\n|\r/;
const DATA = /^\uFEFF?data(?:: ?|$)/;

/**
 * The body of an answer, held until a message in it is complete and is known not to be nested too deeply: the SDK parses what it
 * gets, and later code walks that recursively. Of a stream of events each event is such a message, otherwise the whole body is.
 */
export class HeldBody {
  readonly #isEvents: boolean;
  readonly #held: Buffer[] = [];
  /** Of the message that is not complete. */
  #bytes = 0;
  #count = 0;
  /** The last bytes of the stream: its next end may begin there. */
  #tail = Buffer.alloc(0);

  constructor(isEvents: boolean) {
    this.#isEvents = isEvents;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many messages passed on since the last call. Of a batch each counts. */
  takeCount(): number {
    const count = this.#count;
    this.#count = 0;
    return count;
  }

  /** What may pass on; empty if no message has ended. Throws RangeError for one that is nested too deeply. */
  take(chunk: Buffer): Buffer {
    const end = this.#isEvents ? this.#endIn(chunk) : 0;
    this.#hold(chunk.subarray(0, end));
    const passing = end === 0 ? Buffer.alloc(0) : this.rest();
    this.#hold(chunk.subarray(end));
    return passing;
  }

  /** What is held; then nothing is. Throws as `take`. */
  rest(): Buffer {
    const rest = Buffer.concat(this.#held.splice(0));
    this.#bytes = 0;
    const text = rest.toString('utf8');
    // Of a text that is not JSON, such as a page, the depth means nothing.
    for (const message of this.#isEvents ? dataOf(text) : [text]) {
      if (/^\s*[[{]/.test(message) && isDeeperThan(MESSAGE_BOUNDS.depth, message))
        throw new RangeError(`that is nested deeper than ${MESSAGE_BOUNDS.depth}`);
      this.#count += messagesIn(message);
    }
    return rest;
  }

  #hold(part: Buffer): void {
    if (part.length === 0) return;
    this.#held.push(part);
    this.#bytes += part.length;
  }

  /** Where the last event ends in the next part of the stream; 0 if no event ends in it. */
  #endIn(chunk: Buffer): number {
    const before = this.#tail.length;
    const joined = Buffer.concat([this.#tail, chunk]);
    this.#tail = joined.subarray(-TAIL_BYTES);
    const ends = EVENT_ENDS.map((text) => {
      const at = joined.lastIndexOf(text);
      return at < 0 ? 0 : at + text.length - before;
    });
    return Math.max(0, ...ends);
  }
}

/** The data of each event. */
function dataOf(text: string): string[] {
  const events: string[][] = [[]];
  for (const line of text.split(LINE_END))
    if (line === '') events.push([]);
    else if (DATA.test(line)) events.at(-1)?.push(line.replace(DATA, ''));
  return events.map((lines) => lines.join('\n'));
}

/** A text that is not a batch is one message, whatever it says. An event without data is not a message. */
function messagesIn(text: string): number {
  if (!/^\s*\[/.test(text)) return text === '' ? 0 : 1;
  try {
    const batch: unknown = JSON.parse(text);
    return Array.isArray(batch) ? batch.length : 1;
  } catch {
    return 1;
  }
}
