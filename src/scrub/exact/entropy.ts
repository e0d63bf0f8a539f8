/**
 * Shannon entropy in bits as gitleaks counts it: runes are counted but divided by the length in UTF-8 bytes, so text
 * beyond ASCII does not sum to one. 0 for the empty text.
 */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const rune of text) counts.set(rune, (counts.get(rune) ?? 0) + 1);
  const length = Buffer.byteLength(text);
  let bits = 0;
  for (const count of counts.values()) {
    const share = count / length;
    bits -= share * Math.log2(share);
  }
  return bits;
}
