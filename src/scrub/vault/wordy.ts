/** Pairs of letters that words, names of programs and addresses are made of. */
const COMMON_PAIRS =
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ' +
  'ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un ' +
  'lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ' +
  'ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu ' +
  'rn sc gi da cr cl du ga qu ue ff ba ey ls va um pp ua up lu ht ru ug lt pi rc rr eg au ck br ak pu ui tp ps ks sl ok rv ms ds nn mm gl iz gg xp ym';

/** Letters and digits of a window that is looked at around a character: those of a piece. */
const REACH = 6;
/** Pairs of letters in a window from which it can be called words. */
const MIN_PAIRS = 7;
const WORDY_SHARE = 0.7;

const IS_COMMON = pairTable();

/**
 * Per character of a text of letters and digits: 1 where a piece cut around it would be words as they stand in any text
 * ("httpshooks", "connection"), which nobody may take for a piece of a secret; 0 elsewhere. Capitals in the middle of a
 * word speak against it.
 */
export function wordyPlaces(text: string): Uint8Array {
  const pairs = new Uint32Array(text.length + 1);
  const common = new Uint32Array(text.length + 1);
  for (let i = 0; i < text.length; i++) {
    const [one, two] = [text.charCodeAt(i), text.charCodeAt(i + 1)];
    const isPair = isLetter(one) && isLetter(two);
    const isCommon = isPair && !(isLower(one) && !isLower(two)) && IS_COMMON[pairOf(one, two)] === 1;
    pairs[i + 1] = (pairs[i] ?? 0) + (isPair ? 1 : 0);
    common[i + 1] = (common[i] ?? 0) + (isCommon ? 1 : 0);
  }
  const wordy = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const [from, to] = [Math.max(0, i - REACH), Math.min(text.length, i + REACH - 1)];
    const inWindow = (pairs[to] ?? 0) - (pairs[from] ?? 0);
    if (inWindow >= MIN_PAIRS && (common[to] ?? 0) - (common[from] ?? 0) >= inWindow * WORDY_SHARE) wordy[i] = 1;
  }
  return wordy;
}

function pairTable(): Uint8Array {
  const table = new Uint8Array(26 * 26);
  for (const pair of COMMON_PAIRS.split(' ')) table[pairOf(pair.charCodeAt(0), pair.charCodeAt(1))] = 1;
  return table;
}

/** Of two letters in either case. */
function pairOf(one: number, two: number): number {
  return ((one | 32) - 97) * 26 + (two | 32) - 97;
}

function isLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 122;
}

function isLower(code: number): boolean {
  return code >= 97;
}
