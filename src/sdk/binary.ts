/** Bytes at the start of a file or an output that are searched for NUL. */
const NUL_WINDOW_BYTES = 8 * 1024;
/** Bytes at the start in which bytes that are not UTF-8 are counted. */
const INVALID_WINDOW_BYTES = 64 * 1024;
const INVALID_SHARE_MAX = 0.1;

const SIGNATURES: readonly (readonly [kind: string, hex: string])[] = [
  ['ELF program', '7f454c46'],
  ['PNG image', '89504e470d0a1a0a'],
  ['JPEG image', 'ffd8ff'],
  ['GIF image', '47494638'],
  ['PDF document', '255044462d'],
  ['ZIP archive', '504b0304'],
  ['gzip data', '1f8b'],
  ['zstd data', '28b52ffd'],
  ['xz data', 'fd377a585a00'],
  ['bzip2 data', '425a68'],
  ['SQLite database', '53514c69746520666f726d6174203300'],
  ['WebAssembly module', '0061736d'],
  ['Java class', 'cafebabe'],
  ['UTF-16 text', 'fffe'],
  ['UTF-16 text', 'feff'],
];

/**
 * Returns the kind of binary data that begins with these bytes, or null for text. Data is binary if the first 8 KiB
 * contain a NUL, or if more than a tenth of the first 64 KiB is not UTF-8.
 */
export function describeBinary(start: Buffer): string | null {
  if (start.subarray(0, NUL_WINDOW_BYTES).includes(0)) return kindOf(start);
  const window = start.subarray(0, INVALID_WINDOW_BYTES);
  return countInvalidBytes(window) > window.length * INVALID_SHARE_MAX ? kindOf(start) : null;
}

function kindOf(start: Buffer): string {
  const found = SIGNATURES.find(([, hex]) => start.subarray(0, hex.length / 2).toString('hex') === hex);
  return found?.[0] ?? 'binary data';
}

/** Counts bytes that belong to no UTF-8 character. A U+FFFD in the text itself is an ordinary character. */
function countInvalidBytes(bytes: Buffer): number {
  const text = bytes.toString('utf8');
  const inserted = countReplacements(text) - countEncodedReplacements(bytes);
  const validBytes = Buffer.byteLength(text) - 3 * inserted;
  return bytes.length - validBytes;
}

function countReplacements(text: string): number {
  return text.split('\ufffd').length - 1;
}

function countEncodedReplacements(bytes: Buffer): number {
  const encoded = Buffer.from('\ufffd');
  let count = 0;
  for (let at = bytes.indexOf(encoded); at !== -1; at = bytes.indexOf(encoded, at + encoded.length)) count += 1;
  return count;
}
