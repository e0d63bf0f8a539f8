import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { GIT_MAX_BYTES, gitCommand, gitEnvironment } from './git.ts';

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
  readonly #packed = new Set<string>();
  readonly #hasPacks: boolean;
  #count = 0;

  /** Removes what an earlier process had begun to write, unless the store is only read. */
  constructor(dir: string, isReadOnly = false) {
    this.#dir = dir;
    this.#hasPacks = !isReadOnly && readdirSync(join(dir, 'objects', 'pack')).some((name) => name.endsWith('.idx'));
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
  async keep(contents: readonly Buffer[]): Promise<string[]> {
    const ids = contents.map(idOf);
    const asked = [...new Set(ids.filter((id) => !this.#has(id)))];
    if (this.#hasPacks && asked.length > 0) for (const id of await this.#inPacks(asked)) this.#packed.add(id);
    for (const [index, id] of ids.entries()) if (!this.#has(id)) this.#write(id, contents[index] ?? Buffer.alloc(0));
    return ids;
  }

  #has(id: string): boolean {
    return this.#loose.has(id) || this.#packed.has(id);
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

  /** Which of these objects packs hold, or an object that was seeded. */
  #inPacks(ids: readonly string[]): Promise<string[]> {
    const [command, ...args] = gitCommand(['cat-file', '--batch-check=%(objectname) %(objecttype)']);
    const child = spawn(command, args, { env: gitEnvironment(this.#dir), stdio: ['pipe', 'pipe', 'ignore'] });
    return new Promise((resolve, reject) => {
      let out = '';
      child.stdout.on('data', (chunk: Buffer) => {
        out += chunk.toString('latin1');
      });
      child.once('error', reject);
      child.once('close', () =>
        resolve(out.split('\n').flatMap((line) => (line.endsWith(' blob') ? [line.slice(0, line.indexOf(' '))] : []))),
      );
      child.stdin.on('error', () => {});
      child.stdin.end(ids.map((id) => `${id}\n`).join(''));
    });
  }

  /** Throws if it is not there, or if it is not what its id says. */
  read(id: string): Buffer {
    const bytes = this.#readLoose(id) ?? this.#readPacked(id);
    if (idOf(bytes) !== id) throw new Error(`the stored content ${id} was changed`);
    return bytes;
  }

  #readLoose(id: string): Buffer | null {
    const file = join(this.#dir, 'objects', id.slice(0, 2), id.slice(2));
    if (!existsSync(file)) return null;
    const raw = inflateSync(readFileSync(file), { maxOutputLength: GIT_MAX_BYTES });
    return raw.subarray(raw.indexOf(0) + 1);
  }

  #readPacked(id: string): Buffer {
    const [command, ...args] = gitCommand(['cat-file', 'blob', id]);
    const options = { env: gitEnvironment(this.#dir), maxBuffer: GIT_MAX_BYTES, stdio: 'pipe' as const };
    return execFileSync(command, args, options);
  }

  /** Removes contents that are not in `keep`, but nothing that the user's repository has too. Returns the bytes left. */
  clean(keep: ReadonlySet<string>): number {
    let bytes = 0;
    for (const id of this.#loose) {
      const file = join(this.#dir, 'objects', id.slice(0, 2), id.slice(2));
      const { nlink, size } = statSync(file);
      if (keep.has(id)) {
        if (nlink === 1) bytes += size;
        continue;
      }
      unlinkSync(file);
      this.#loose.delete(id);
    }
    const packs = join(this.#dir, 'objects', 'pack');
    for (const name of readdirSync(packs)) {
      const { nlink, size } = statSync(join(packs, name));
      if (nlink === 1) bytes += size;
    }
    return bytes;
  }
}
