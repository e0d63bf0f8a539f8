/** A question of the local DNS. Only the usual form is read: one question, class IN. */
export interface DnsQuestion {
  readonly id: number;
  /** As asked for, without the final dot. */
  readonly name: string;
  readonly type: number;
  /** The question's own bytes, which the answer repeats. */
  readonly bytes: Buffer;
  readonly isRecursionDesired: boolean;
}

export const DNS_TYPE_A = 1;

const HEADER_BYTES = 12;
const CLASS_IN = 1;
const RECURSION_DESIRED = 0x0100;
/** A response with authority and recursion available: clients ask no second server. */
const RESPONSE = 0x8480;
const NAME_ERROR = 3;
const LABEL_MAX_BYTES = 63;
const NAME_MAX_BYTES = 254;
/** Seconds for which a client may remember an address. */
const TTL_SECONDS = 60;

/** Null if the datagram is not a question that can be answered. */
export function readQuestion(datagram: Buffer): DnsQuestion | null {
  if (datagram.length < HEADER_BYTES + 5) return null;
  const flags = datagram.readUInt16BE(2);
  const isStandardQuery = (flags & 0xf800) === 0;
  if (!isStandardQuery || datagram.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = datagram[at];
    // A length above 63 is a compression pointer, which has no place in the first name of a message.
    if (length === undefined || length > LABEL_MAX_BYTES) return null;
    at += 1;
    if (length === 0) break;
    // A dot inside a label would make two labels of it. The name check refuses the replacement.
    labels.push(datagram.toString('latin1', at, at + length).replaceAll('.', '/'));
    at += length;
    if (at - HEADER_BYTES > NAME_MAX_BYTES) return null;
  }
  if (at + 4 > datagram.length || datagram.readUInt16BE(at + 2) !== CLASS_IN) return null;
  return {
    id: datagram.readUInt16BE(0),
    name: labels.join('.'),
    type: datagram.readUInt16BE(at),
    bytes: datagram.subarray(HEADER_BYTES, at + 4),
    isRecursionDesired: (flags & RECURSION_DESIRED) !== 0,
  };
}

/** `address`: an IPv4 address; null: the name exists and has no record of the type. */
export function answerQuestion(question: DnsQuestion, address: string | null): Buffer {
  if (address === null) return Buffer.concat([header(question, 0, 0), question.bytes]);
  const record = Buffer.alloc(16);
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  record.writeUInt16BE(DNS_TYPE_A, 2);
  record.writeUInt16BE(CLASS_IN, 4);
  record.writeUInt32BE(TTL_SECONDS, 6);
  record.writeUInt16BE(4, 10);
  record.set(address.split('.').map(Number), 12);
  return Buffer.concat([header(question, 0, 1), question.bytes, record]);
}

/** Says that the name does not exist. */
export function refuseQuestion(question: DnsQuestion): Buffer {
  return Buffer.concat([header(question, NAME_ERROR, 0), question.bytes]);
}

function header(question: DnsQuestion, code: number, answers: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt16BE(question.id, 0);
  bytes.writeUInt16BE(RESPONSE | (question.isRecursionDesired ? RECURSION_DESIRED : 0) | code, 2);
  bytes.writeUInt16BE(1, 4);
  bytes.writeUInt16BE(answers, 6);
  return bytes;
}
