/** Marks that share the column of the character before them, joiners and the like: how wide they are depends. */
const UNSURE = /[\p{M}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
/** Shown two columns wide: emoji, Hangul, Chinese and Japanese. */
const WIDE =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** Columns that a terminal gives to a printable character: 1 or 2; 0 when terminals do not agree. */
export function columnWidth(codePoint: number): 0 | 1 | 2 {
  if (codePoint < 0x300 || isPlainSymbol(codePoint)) return 1;
  const character = String.fromCodePoint(codePoint);
  if (UNSURE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Bars, boxes, blocks and Braille spinners. */
function isPlainSymbol(codePoint: number): boolean {
  return (codePoint >= 0x2500 && codePoint < 0x25fd) || (codePoint >= 0x2800 && codePoint < 0x2900);
}

/** Columns of text[from, to), which holds no control character; -1 when terminals do not agree. */
export function columns(text: string, from: number, to: number): number {
  let total = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x300) {
      total++;
      continue;
    }
    const codePoint = text.codePointAt(at) ?? code;
    const width = columnWidth(codePoint);
    if (width === 0) return -1;
    total += width;
    if (codePoint > 0xffff) at++;
  }
  return total;
}
