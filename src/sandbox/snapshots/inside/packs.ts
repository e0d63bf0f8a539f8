import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate, inflateSync } from 'node:zlib';
import { isErrno } from '../../../core/errors.ts';
import { idOf } from './content-id.ts';

/** Bytes of all contents of one pack. */
const BODY_MAX_BYTES = 64 * 1024 * 1024;
/** A pack is written again without the contents that nothing needs if less than this share of it is needed. */
const NEEDED_MIN = 0.75;
/** Of the list of a pack, before the list. */
const LENGTH_BYTES = 4;
const DEFLATE_LEVEL = 1;
const NAME = /^contents-[0-9a-f]{40}$/;

const deflated = promisify(deflate);

/** A pack as its list has it: ids with the length of each content, in the order of the body. */
interface Pack {
  readonly file: string;
  readonly list: readonly (readonly [id: string, length: number])[];
}

/**
 * Many contents in one compressed file each, because a file for each content costs more than the content. A pack is four
 * bytes with the length of its list, the list as JSON, and the compressed contents one after the other. It is never
 * changed, only replaced.
 */
export class Packs {
  readonly #dir: string;
  readonly #packOf = new Map<string, Pack>();
  readonly #draftName: () => string;
  /** The one that was read last: an undo reads many contents of the same pack. */
  #open: { readonly pack: Pack; readonly body: Buffer } | null = null;

  /** `draftName`: of a file beside the packs that the store removes after a crash. */
  constructor(dir: string, draftName: () => string) {
    this.#dir = dir;
    this.#draftName = draftName;
    this.#readDirectory();
  }

  #readDirectory(): void {
    for (const name of readdirSync(this.#dir)) {
      const pack = NAME.test(name) ? readList(join(this.#dir, name)) : null;
      if (pack !== null) this.#take(pack);
    }
  }

  has(id: string): boolean {
    return this.#packOf.has(id);
  }

  /** Writes new contents, by their ids. */
  async add(contents: ReadonlyMap<string, Buffer>): Promise<void> {
    const list = Array.from(contents, ([id, bytes]) => [id, bytes.length] as const);
    const head = Buffer.from(JSON.stringify(list));
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(head.length);
    const body = await deflated(Buffer.concat([...contents.values()]), { level: DEFLATE_LEVEL });
    const draft = this.#draftName();
    writeFileSync(draft, Buffer.concat([length, head, body]), { mode: 0o400 });
    const file = join(this.#dir, `contents-${idOf(head)}`);
    renameSync(draft, file);
    this.#take({ file, list });
  }

  /** Null if no pack has it. */
  read(id: string): Buffer | null {
    const pack = this.#packOf.get(id);
    if (pack === undefined) return null;
    if (this.#open?.pack !== pack) {
      try {
        this.#open = { pack, body: bodyOf(pack) };
      } catch (cause) {
        if (!isErrno(cause, 'ENOENT')) throw cause;
        // The keeper has replaced it since this process listed the packs.
        this.#packOf.delete(id);
        this.#readDirectory();
        return this.read(id);
      }
    }
    let offset = 0;
    for (const [one, length] of pack.list) {
      if (one === id) return this.#open.body.subarray(offset, offset + length);
      offset += length;
    }
    return null;
  }

  /** Removes contents that are not in `keep`. Returns the bytes that those in it take. */
  async clean(keep: ReadonlySet<string>): Promise<number> {
    let bytes = 0;
    for (const pack of new Set(this.#packOf.values())) {
      const needed = pack.list.filter(([id]) => keep.has(id) && this.#packOf.get(id) === pack);
      const share = sumOf(needed) / Math.max(1, sumOf(pack.list));
      const isKept = needed.length === pack.list.length || (share >= NEEDED_MIN && needed.length > 0);
      const { size } = statSync(pack.file);
      bytes += size * share;
      if (isKept) continue;
      if (needed.length > 0) await this.add(new Map(needed.map(([id]) => [id, this.read(id) ?? Buffer.alloc(0)])));
      this.#remove(pack);
    }
    return Math.ceil(bytes);
  }

  #take(pack: Pack): void {
    for (const [id] of pack.list) this.#packOf.set(id, pack);
  }

  #remove(pack: Pack): void {
    for (const [id] of pack.list) if (this.#packOf.get(id) === pack) this.#packOf.delete(id);
    if (this.#open?.pack === pack) this.#open = null;
    unlinkSync(pack.file);
  }
}

function sumOf(list: Pack['list']): number {
  return list.reduce((sum, [, length]) => sum + length, 0);
}

/** Null if it is no pack, because the machine lost power while it was written. */
function readList(file: string): Pack | null {
  const fd = openSync(file, 'r');
  try {
    const length = Buffer.alloc(LENGTH_BYTES);
    readSync(fd, length, 0, LENGTH_BYTES, 0);
    const head = Buffer.alloc(length.readUInt32BE());
    readSync(fd, head, 0, head.length, LENGTH_BYTES);
    return { file, list: JSON.parse(head.toString()) };
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

function bodyOf({ file }: Pack): Buffer {
  const bytes = readFileSync(file);
  return inflateSync(bytes.subarray(LENGTH_BYTES + bytes.readUInt32BE()), { maxOutputLength: BODY_MAX_BYTES });
}
