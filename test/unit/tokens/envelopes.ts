import { type Envelope, successEnvelope } from '#src/core/envelope.js';
import type { JsonObject } from '#src/core/json.js';
import type { ByteRange } from '#src/tokens/line.js';

/** The answer of a command before its streams are added. */
export function commandEnvelope(data: JsonObject = {}): Envelope {
  return successEnvelope({
    data: { exit_code: 1, stdout: '', stderr: '', ended_by: 'exit', duration_ms: 1234, ...data },
    refs: ['art_9f3k2mz8q1x7c5va'],
    meta: { version: 'response-v2', request_id: 'req_01JD4X8V7N3QZ5T2K9RBWCMEHF' },
  });
}

/** A cursor as long as a sealed one, whose ranges a test can read. */
export function cursorFor(ranges: readonly ByteRange[]): string {
  const plain = ranges.map(({ start, end }) => `${start.toString(36)}.${end.toString(36)}`).join('_');
  return `c1_k3J9dF8sLq0ZkXw2mBv7Tg4RyPn1_${plain}`;
}

export function rangesOf(cursor: string): ByteRange[] {
  const plain = cursor.split('_').slice(2);
  return plain.map((range) => {
    const [start = '', end = ''] = range.split('.');
    return { start: Number.parseInt(start, 36), end: Number.parseInt(end, 36) };
  });
}
