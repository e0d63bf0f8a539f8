/** An output that is not text. */
export interface BinaryOutput {
  /** Such as "ELF program". */
  kind: string;
  bytes: number;
  /** Null if it was not kept whole. */
  sha256: string | null;
}

/** The line that stands for an output that is not text. Equal hashes mean equal outputs. */
export function withheldLine({ kind, bytes, sha256 }: BinaryOutput): string {
  const hash = sha256 === null ? '' : `, sha256 ${sha256}`;
  return `… ${kind}, ${bytes} bytes${hash}, withheld by contextd …\n`;
}

const WITHHELD_LINE = /^… .+, \d+ bytes(?:, sha256 [0-9a-f]{64})?, withheld by contextd …\n$/;

/** True if a text is nothing but such a line. Every view of it is the line itself: nothing else can be looked at. */
export function isWithheld(text: string): boolean {
  return text.length < 300 && WITHHELD_LINE.test(text);
}
