/** Width and height of an image, pixels. */
export interface ImageSize {
  width: number;
  height: number;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/**
 * The size of a PNG, JPEG, GIF, WebP or BMP image by the bytes it begins with; null for anything else, and if the size is
 * not in these bytes.
 */
export function imageSize(start: Buffer): ImageSize | null {
  try {
    return checked(readSize(start));
  } catch (thrown) {
    // The bytes end before the size.
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

function readSize(start: Buffer): ImageSize | null {
  if (start.subarray(0, 8).equals(PNG)) return { width: start.readUInt32BE(16), height: start.readUInt32BE(20) };
  if (/^GIF8[79]a/.test(start.toString('latin1', 0, 6)))
    return { width: start.readUInt16LE(6), height: start.readUInt16LE(8) };
  if (start.toString('latin1', 0, 2) === 'BM') return sizeOfBitmap(start);
  if (start.toString('latin1', 0, 4) === 'RIFF' && start.toString('latin1', 8, 12) === 'WEBP') return sizeOfWebp(start);
  return start.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')) ? sizeOfJpeg(start) : null;
}

function checked(size: ImageSize | null): ImageSize | null {
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

/** The height is negative if the first row is the upper one. The oldest header has 12 bytes. */
function sizeOfBitmap(start: Buffer): ImageSize {
  if (start.readUInt32LE(14) === 12) return { width: start.readUInt16LE(18), height: start.readUInt16LE(20) };
  return { width: start.readInt32LE(18), height: Math.abs(start.readInt32LE(22)) };
}

function sizeOfWebp(start: Buffer): ImageSize | null {
  switch (start.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: start.readUIntLE(24, 3) + 1, height: start.readUIntLE(27, 3) + 1 };
    case 'VP8L': {
      const bits = start.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8 ':
      return { width: start.readUInt16LE(26) & 0x3fff, height: start.readUInt16LE(28) & 0x3fff };
    default:
      return null;
  }
}

/** Segments begin with 0xff and their kind; a frame header (0xc0 to 0xcf, with three exceptions) holds the size. */
function sizeOfJpeg(start: Buffer): ImageSize | null {
  for (let at = 2; ; ) {
    if (start.readUInt8(at) !== 0xff) return null;
    const kind = start.readUInt8(at + 1);
    if (kind === 0xff) at += 1;
    else if (kind === 0x01 || (kind >= 0xd0 && kind <= 0xd8)) at += 2;
    else if (kind >= 0xc0 && kind <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(kind))
      return { width: start.readUInt16BE(at + 7), height: start.readUInt16BE(at + 5) };
    else at += 2 + Math.max(2, start.readUInt16BE(at + 2));
  }
}
