/**
 * Shannon entropy in bits as gitleaks counts it: runes are counted but divided by the length in UTF-8 bytes, so text
 * beyond ASCII does not sum to one. 0 for the empty text.
 */
export function entropyOf(text: string): number {
  const inAscii = countAscii(text);
  if (inAscii !== null) return bitsOf(inAscii, text.length);
  const counts = new Map<string, number>();
  for (const rune of text) counts.set(rune, (counts.get(rune) ?? 0) + 1);
  return bitsOf(counts.values(), Buffer.byteLength(text));
}

/** How often each character occurs, in order of first appearance: the sum depends on it. Null if it is not ASCII. */
function countAscii(text: string): number[] | null {
  const places = new Uint8Array(ASCII);
  const counts: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= ASCII) return null;
    const place = places[code] ?? 0;
    if (place === 0) places[code] = counts.push(1);
    else counts[place - 1] = (counts[place - 1] ?? 0) + 1;
  }
  return counts;
}

const ASCII = 0x80;

function bitsOf(counts: Iterable<number>, length: number): number {
  let bits = 0;
  for (const count of counts) {
    const share = count / length;
    bits -= share * Math.log2(share);
  }
  return bits;
}
