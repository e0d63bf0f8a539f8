import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

/** More than the largest file that is kept, and a list of all files. */
const CONTENT_MAX_BYTES = 256 * 1024 * 1024;
const TEMPORARY = 'tmp_obj_';
const FAN_OUT = /^[0-9a-f]{2}$/;
const LOOSE_NAME = /^[0-9a-f]{38}$/;
/** Contents are written often and read seldom. */
const DEFLATE_LEVEL = 1;

/** The id that git gives to this content. */
export function idOf(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** The contents of files, as git keeps them: `dir` is a bare repository that nobody else writes. */
export class ObjectStore {
  readonly #dir: string;
  readonly #loose = new Set<string>();
  #count = 0;

  /** Removes what an earlier process had begun to write, unless the store is only read. */
  constructor(dir: string, isReadOnly = false) {
    this.#dir = dir;
    if (!isReadOnly) this.#open(join(dir, 'objects'));
  }

  #open(objects: string): void {
    for (const name of readdirSync(objects)) {
      if (name.startsWith(TEMPORARY)) unlinkSync(join(objects, name));
      if (!FAN_OUT.test(name)) continue;
      for (const rest of readdirSync(join(objects, name))) if (LOOSE_NAME.test(rest)) this.#loose.add(name + rest);
    }
  }

  /** Keeps contents that are not there yet, and returns their ids. */
  keep(contents: readonly Buffer[]): string[] {
    const ids = contents.map(idOf);
    for (const [index, id] of ids.entries())
      if (!this.#loose.has(id)) this.#write(id, contents[index] ?? Buffer.alloc(0));
    return ids;
  }

  #write(id: string, bytes: Buffer): void {
    const directory = join(this.#dir, 'objects', id.slice(0, 2));
    this.#count += 1;
    const draft = join(this.#dir, 'objects', `${TEMPORARY}${process.pid}_${this.#count}`);
    const header = Buffer.from(`blob ${bytes.length}\0`);
    writeFileSync(draft, deflateSync(Buffer.concat([header, bytes]), { level: DEFLATE_LEVEL }), { mode: 0o400 });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    renameSync(draft, join(directory, id.slice(2)));
    this.#loose.add(id);
  }

  /** Throws if it is not there, or if it is not what its id says. */
  read(id: string): Buffer {
    const raw = inflateSync(readFileSync(this.#fileOf(id)), { maxOutputLength: CONTENT_MAX_BYTES });
    const bytes = raw.subarray(raw.indexOf(0) + 1);
    if (idOf(bytes) !== id) throw new Error(`the stored content ${id} was changed`);
    return bytes;
  }

  /** Removes contents that are not in `keep`. Returns the bytes left. */
  clean(keep: ReadonlySet<string>): number {
    let bytes = 0;
    for (const id of this.#loose) {
      if (keep.has(id)) bytes += statSync(this.#fileOf(id)).size;
      else {
        unlinkSync(this.#fileOf(id));
        this.#loose.delete(id);
      }
    }
    return bytes;
  }

  #fileOf(id: string): string {
    return join(this.#dir, 'objects', id.slice(0, 2), id.slice(2));
  }
}
