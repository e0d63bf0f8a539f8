import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isErrno } from '../core/errors.ts';

/** The files that a restore has put into the state, so that it can take them back if it fails. */
export class Placements {
  /** Where what a file replaced lies until the restore has ended. */
  readonly #asideDir: string;
  readonly #made: { readonly path: string; readonly replaced: string | null }[] = [];

  constructor(asideDir: string) {
    this.#asideDir = asideDir;
  }

  /** Also to another file system. */
  async move(from: string, to: string): Promise<void> {
    await this.willMake(to);
    await moveFile(from, to);
  }

  /** Keeps what is at a path that is about to be written. */
  async willMake(path: string): Promise<void> {
    const aside = join(this.#asideDir, String(this.#made.length));
    const isThere = await moveFile(path, aside).then(
      () => true,
      (error: unknown) => {
        if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false;
        throw error;
      },
    );
    this.#made.push({ path, replaced: isThere ? aside : null });
  }

  /** Goes on after a fault: what can be taken back is. */
  async takeBack(): Promise<void> {
    for (const { path, replaced } of this.#made.splice(0).reverse()) {
      await rm(path, { force: true }).catch(() => {});
      if (replaced !== null) await moveFile(replaced, path).catch(() => {});
    }
  }
}

/** Replaces what is there in one step. Also to another file system. */
export async function moveFile(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await rename(from, to);
  } catch (error) {
    if (!isErrno(error, 'EXDEV')) throw error;
    const unfinished = join(dirname(to), `.${basename(to)}.unfinished`);
    await copyFile(from, unfinished);
    await rename(unfinished, to);
    await rm(from);
  }
}
