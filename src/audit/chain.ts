import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import type { Line } from './lines.ts';

/** A line's place in the chain: its number from 1, and the code that covers it and, through the lines before, all of them. */
export interface Link {
  readonly seq: number;
  /** HMAC-SHA256 in base64url: 43 characters; "" before the first line. */
  readonly mac: string;
}

/** Before the first line. */
export const CHAIN_START: Link = { seq: 0, mac: '' };

/** Bytes of the key of an audit log. */
export const KEY_BYTES = 32;

const LABEL = 'contextd audit log 1\n';
const MAC_AT_END = /^(.*),"mac":"([A-Za-z0-9_-]{43})"\}$/s;
const SEQ_AT_END = /,"seq":([1-9][0-9]{0,15})\}$/;

/** The line of `fields` after `previous`, without a newline. Its last properties are `seq` and `mac`. */
export function chainLine(key: Buffer, previous: Link, fields: object): { line: string; link: Link } {
  const seq = previous.seq + 1;
  const covered = JSON.stringify({ ...fields, seq });
  const mac = macOf(key, previous.mac, covered);
  return { line: `${covered.slice(0, -1)},"mac":"${mac}"}`, link: { seq, mac } };
}

/** A line that says that it belongs to a chain. */
export interface ChainedLine {
  readonly link: Link;
  readonly text: string;
  /** What the code covers. */
  readonly covered: string;
}

/** Null for any other line, such as a record from before there was a chain, and for one that was not written whole. */
export function readChained({ bytes, isTorn }: Line): ChainedLine | null {
  // Bytes that are no UTF-8 would be replaced: the code would cover another text than the file has.
  if (isTorn || !isUtf8(bytes)) return null;
  const text = bytes.toString('utf8');
  const [, start = '', mac = ''] = MAC_AT_END.exec(text) ?? [];
  const covered = `${start}}`;
  const seq = Number(SEQ_AT_END.exec(covered)?.[1] ?? 0);
  return seq > 0 ? { link: { seq, mac }, text, covered } : null;
}

/** True if the line is the one that follows `previous`, unchanged. */
export function follows(key: Buffer, previous: Link, { link, covered }: ChainedLine): boolean {
  return link.seq === previous.seq + 1 && link.mac === macOf(key, previous.mac, covered);
}

/** A code for something beside the log. No label is the start of another. */
export function macOf(key: Buffer, previousMac: string, covered: string, label = LABEL): string {
  return createHmac('sha256', key).update(`${label}${previousMac}\n`).update(covered).digest('base64url');
}
