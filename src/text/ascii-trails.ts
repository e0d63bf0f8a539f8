import { TextDecoder } from 'node:util';

/** Encodings in which the second byte of a character may be an ASCII letter. */
const LABELS = ['shift_jis', 'gb18030', 'big5', 'euc-kr'] as const;
const LEADS = { first: 0x81, last: 0xfe } as const;
const TRAILS = { first: 0x40, last: 0x7e } as const;
const NEWLINE = 0x0a;

/** The ASCII characters that are the second byte of a character, each once, as a string. Empty for other characters. */
export function asciiTrails(character: string): string {
  trails ??= readTrails();
  return trails.get(character) ?? '';
}

/** Made at the first use. */
let trails: ReadonlyMap<string, string> | null = null;

function readTrails(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const label of LABELS) {
    const decoder = new TextDecoder(label);
    for (let lead = LEADS.first; lead <= LEADS.last; lead++) {
      const decoded = decoder.decode(rowOf(lead)).split('\n');
      for (const [index, text] of decoded.entries()) {
        const character = Array.from(text).at(-1) ?? '';
        const letter = String.fromCharCode(TRAILS.first + index);
        // A pair of bytes that is no character leaves its second byte as it is.
        const isWhole = character > '\x7f' && character !== '\ufffd';
        const known = found.get(character) ?? '';
        if (isWhole && !known.includes(letter)) found.set(character, known + letter);
      }
    }
  }
  return found;
}

/** One byte followed by each byte that may be its second, on a line each. */
function rowOf(lead: number): Buffer {
  const bytes: number[] = [];
  for (let trail = TRAILS.first; trail <= TRAILS.last; trail++) bytes.push(lead, trail, NEWLINE);
  return Buffer.from(bytes);
}
