import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

/** An entry of a tar archive; what is left out is that of an ordinary file. */
export interface TarEntry {
  readonly path: string;
  readonly body?: Buffer | string;
  readonly mode?: number;
  /** The type flag: 0 file, 1 hard link, 2 symbolic link, 3 and 4 devices, 5 directory, 6 pipe, x and g pax headers. */
  readonly type?: string;
  readonly link?: string;
  /** What the header says, if it lies. */
  readonly size?: number;
}

const BLOCK = 512;

/** A tar archive in gzip, with any entries in it: no library would write most of them. */
export function tarOf(entries: readonly TarEntry[], { truncate = 0 } = {}): Buffer {
  const blocks = [...entries.map(tarEntry), Buffer.alloc(2 * BLOCK)];
  const tar = Buffer.concat(blocks);
  return gzipSync(tar.subarray(0, tar.length - truncate));
}

function tarEntry({ path, body = '', mode = 0o644, type = '0', link = '', size }: TarEntry): Buffer {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(BLOCK);
  const name = Buffer.from(path);
  if (name.length > 100) throw new Error('use a pax header for a long name');
  name.copy(header, 0);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100, 'latin1');
  header.write('0000000\0'.repeat(2), 108, 'latin1');
  header.write(`${(size ?? bytes.length).toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('00000000000\0', 136, 'latin1');
  header.write(type, 156, 'latin1');
  header.write(link, 157, 'utf8');
  header.write('ustar\x0000', 257, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return Buffer.concat([header, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)]);
}

/** A pax header for the next entry, or for all that follow. */
export function paxOf(values: Readonly<Record<string, string>>, isGlobal = false): TarEntry {
  const records = Object.entries(values).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`);
    let length = rest + 1;
    while (String(length).length + rest !== length) length = String(length).length + rest;
    return `${length} ${key}=${value}\n`;
  });
  return { path: 'pax', type: isGlobal ? 'g' : 'x', body: records.join('') };
}

/** An entry of a zip archive. */
export interface ZipItem {
  readonly path: string;
  readonly body?: Buffer | string;
  /** Type and permission bits, as Unix has them; left out: made on another system. */
  readonly mode?: number;
  /** Unpacked size, if it lies. */
  readonly size?: number;
  readonly crc?: number;
  /** The name in its own header, if it is another. */
  readonly localPath?: string;
  /** Where its own header is, if it is inside the bytes of another entry. */
  readonly at?: number;
  readonly stored?: boolean;
  readonly flags?: number;
  readonly method?: number;
}

/** A zip archive with any entries in it. */
export function zipOf(items: readonly ZipItem[], { truncate = 0 } = {}): Buffer {
  const locals: Buffer[] = [];
  const places: { offset: number; packed: Buffer }[] = [];
  let offset = 0;
  for (const item of items) {
    const bytes = Buffer.from(item.body ?? '');
    const packed = item.stored === true ? bytes : deflateRawSync(bytes);
    if (item.at !== undefined) {
      places.push({ offset: item.at, packed });
      continue;
    }
    places.push({ offset, packed });
    const local = Buffer.concat([localHeader(item, bytes, packed), packed]);
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(
    items.map((item, at) => centralHeader(item, places[at]?.packed ?? Buffer.alloc(0), places[at]?.offset ?? 0)),
  );
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(items.length, 8);
  end.writeUInt16LE(items.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  const zip = Buffer.concat([...locals, central, end]);
  return zip.subarray(0, zip.length - truncate);
}

function localHeader(item: ZipItem, bytes: Buffer, packed: Buffer): Buffer {
  const name = Buffer.from(item.localPath ?? item.path);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(item.flags ?? 0x0800, 6);
  header.writeUInt16LE(methodOf(item), 8);
  header.writeUInt32LE(item.crc ?? crc32(bytes), 14);
  header.writeUInt32LE(packed.length, 18);
  header.writeUInt32LE(item.size ?? bytes.length, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name]);
}

function centralHeader(item: ZipItem, packed: Buffer, offset: number): Buffer {
  const bytes = Buffer.from(item.body ?? '');
  const name = Buffer.from(item.path);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(item.mode === undefined ? 20 : (3 << 8) | 20, 4);
  header.writeUInt16LE(20, 6);
  header.writeUInt16LE(item.flags ?? 0x0800, 8);
  header.writeUInt16LE(methodOf(item), 10);
  header.writeUInt32LE(item.crc ?? crc32(bytes), 16);
  header.writeUInt32LE(packed.length, 20);
  header.writeUInt32LE(item.size ?? bytes.length, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt32LE(((item.mode ?? 0) << 16) >>> 0, 38);
  header.writeUInt32LE(offset, 42);
  return Buffer.concat([header, name]);
}

function methodOf({ method, stored }: ZipItem): number {
  return method ?? (stored === true ? 0 : 8);
}
