import type { RawPath } from '../../fs/raw-path.ts';

/** Characters of all names that are kept; the directories beyond are read again each time. */
const NAMES_MAX_CHARS = 4 * 1024 * 1024;
/** No name holds it. */
const SEPARATOR = '/';

interface Known {
  /** Of the index that told the files from everything else. */
  readonly version: number;
  /** One text: a list has more bytes for each name than most names have. */
  readonly names: string;
}

/**
 * The ordinary files of each directory, as it was read last. They are the same as long as the directory has the ctime that it had
 * then: no name comes or goes without changing it.
 */
export class KnownFiles {
  readonly #known = new Map<RawPath, Known>();
  #chars = 0;

  /** The names; null if they are not known, or were sorted by another version of the index. */
  get(dir: RawPath, version: number): readonly string[] | null {
    const known = this.#known.get(dir);
    if (known?.version !== version) return null;
    return known.names === '' ? [] : known.names.split(SEPARATOR);
  }

  set(dir: RawPath, version: number, files: readonly string[]): void {
    this.forget(dir);
    const names = files.join(SEPARATOR);
    if (this.#chars + names.length > NAMES_MAX_CHARS) return;
    this.#known.set(dir, { version, names });
    this.#chars += names.length;
  }

  forget(dir: RawPath): void {
    this.#chars -= this.#known.get(dir)?.names.length ?? 0;
    this.#known.delete(dir);
  }
}
