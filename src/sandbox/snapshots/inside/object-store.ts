import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { idOf } from './content-id.ts';
import { Packs } from './packs.ts';

/** More than the largest file that is kept, and a list of all files. */
const CONTENT_MAX_BYTES = 256 * 1024 * 1024;
const TEMPORARY = 'tmp_obj_';
const FAN_OUT = /^[0-9a-f]{2}$/;
const LOOSE_NAME = /^[0-9a-f]{38}$/;
/** Contents are written often and read seldom. */
const DEFLATE_LEVEL = 1;
/** New contents from which they are written as a pack. */
const PACK_MIN = 64;

/**
 * The contents of files: `dir` is a bare repository that nobody else writes. A few contents at once are objects in git's
 * form, many are a pack of our own.
 */
export class ObjectStore {
  readonly #dir: string;
  readonly #loose = new Set<string>();
  readonly #packs: Packs;
  #count = 0;

  /** Removes what an earlier process had begun to write, unless the store is only read. */
  constructor(dir: string, isReadOnly = false) {
    this.#dir = dir;
    if (!isReadOnly) this.#open(join(dir, 'objects'));
    this.#packs = new Packs(join(dir, 'objects', 'pack'), () => this.#draftName());
  }

  #open(objects: string): void {
    for (const name of readdirSync(objects)) {
      if (name.startsWith(TEMPORARY)) unlinkSync(join(objects, name));
      if (!FAN_OUT.test(name)) continue;
      for (const rest of readdirSync(join(objects, name))) if (LOOSE_NAME.test(rest)) this.#loose.add(name + rest);
    }
  }

  /** Keeps contents that are not there yet, and returns their ids. */
  async keep(contents: readonly Buffer[]): Promise<string[]> {
    const ids = contents.map(idOf);
    const fresh = new Map<string, Buffer>();
    for (const [index, id] of ids.entries())
      if (!this.#loose.has(id) && !this.#packs.has(id)) fresh.set(id, contents[index] ?? Buffer.alloc(0));
    if (fresh.size >= PACK_MIN) await this.#packs.add(fresh);
    else for (const [id, bytes] of fresh) this.#write(id, bytes);
    return ids;
  }

  #write(id: string, bytes: Buffer): void {
    const directory = join(this.#dir, 'objects', id.slice(0, 2));
    const draft = this.#draftName();
    const header = Buffer.from(`blob ${bytes.length}\0`);
    writeFileSync(draft, deflateSync(Buffer.concat([header, bytes]), { level: DEFLATE_LEVEL }), { mode: 0o400 });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    renameSync(draft, join(directory, id.slice(2)));
    this.#loose.add(id);
  }

  #draftName(): string {
    this.#count += 1;
    return join(this.#dir, 'objects', `${TEMPORARY}${process.pid}_${this.#count}`);
  }

  /** Throws if it is not there, or if it is not what its id says. */
  read(id: string): Buffer {
    const bytes = this.#packs.read(id) ?? this.#readLoose(id);
    if (idOf(bytes) !== id) throw new Error(`the stored content ${id} was changed`);
    return bytes;
  }

  #readLoose(id: string): Buffer {
    const raw = inflateSync(readFileSync(this.#fileOf(id)), { maxOutputLength: CONTENT_MAX_BYTES });
    return raw.subarray(raw.indexOf(0) + 1);
  }

  /** Removes contents that are not in `keep`. Returns the bytes left. */
  async clean(keep: ReadonlySet<string>): Promise<number> {
    let bytes = await this.#packs.clean(keep);
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
