/** Bits of each symbol's code (RFC 7541 appendix B), one base-36 digit a symbol; the last symbol is end of string. */
const CODE_LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq' +
  'u';

const END_OF_STRING = 256;
const LONGEST_CODE = 30;

/** What decoding a canonical code needs: symbols by (length, value), and where each length's codes begin. */
interface CodeBook {
  symbols: readonly number[];
  firstCode: readonly number[];
  firstIndex: readonly number[];
  counts: readonly number[];
}

/** The octets of a Huffman-coded string. Throws RangeError for anything RFC 7541 §5.2 calls an error. */
export function decodeHuffman(coded: Uint8Array): Buffer {
  const book = buildCodeBook();
  const octets: number[] = [];
  let code = 0;
  let length = 0;
  for (const byte of coded) {
    for (let bit = 7; bit >= 0; bit--) {
      code = (code << 1) | ((byte >> bit) & 1);
      length++;
      const symbol = symbolOf(book, code, length);
      if (symbol === undefined) continue;
      if (symbol === END_OF_STRING) throw new RangeError('end-of-string symbol inside a Huffman string');
      octets.push(symbol);
      code = 0;
      length = 0;
    }
  }
  checkPadding(code, length);
  return Buffer.from(octets);
}

function symbolOf(book: CodeBook, code: number, length: number): number | undefined {
  const offset = code - (book.firstCode[length] ?? 0);
  if (offset < 0 || offset >= (book.counts[length] ?? 0)) return undefined;
  return book.symbols[(book.firstIndex[length] ?? 0) + offset];
}

function checkPadding(code: number, length: number): void {
  if (length > 7 || code !== (1 << length) - 1) throw new RangeError('wrong padding of a Huffman string');
}

function buildCodeBook(): CodeBook {
  const counts = new Array<number>(LONGEST_CODE + 1).fill(0);
  const lengths = Array.from(CODE_LENGTHS, (digit) => Number.parseInt(digit, 36));
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  const symbols = lengths.map((_, symbol) => symbol);
  symbols.sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b);
  const firstCode: number[] = [0];
  const firstIndex: number[] = [0];
  for (let length = 1; length <= LONGEST_CODE; length++) {
    const before = counts[length - 1] ?? 0;
    firstCode.push(((firstCode[length - 1] ?? 0) + before) << 1);
    firstIndex.push((firstIndex[length - 1] ?? 0) + before);
  }
  return { symbols, firstCode, firstIndex, counts };
}
