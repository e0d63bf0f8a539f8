import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../core/errors.ts';
import { verifyBundle } from './bundle.ts';

/** Watches over one published bundle: cheap for each call, because it is hashed only if something about it changed. */
export class BundleSeal {
  readonly #dir: string;
  readonly #sha256: string;
  readonly #remedy: string;
  #verified: Stamp | null = null;

  /** `remedy`: what a person does about a bundle that has changed. */
  constructor(dir: string, sha256: string, remedy: string) {
    this.#dir = dir;
    this.#sha256 = sha256;
    this.#remedy = remedy;
  }

  /** The bundle has just been hashed. */
  async close(): Promise<void> {
    this.#verified = await takeStamp(this.#dir);
  }

  /** Throws INTEGRITY_FAILED unless the bundle still has its hash (SEC-4.1). */
  async check(): Promise<void> {
    if (this.#verified !== null && stampOf(this.#verified.paths) === this.#verified.text) return;
    this.#verified = null;
    const now = await takeStamp(this.#dir);
    await verifyBundle(this.#dir, this.#sha256, this.#remedy);
    this.#verified = now;
  }
}

/**
 * Inode, size, mode and change time of every file and directory of a bundle: at least one changes when a file is
 * written, replaced, added or removed. Hashing a megabyte for each call would cost more than the call, so the bundle is
 * hashed again only if its stamp has changed.
 */
interface Stamp {
  /** Includes directories, so that an added file shows without a listing. */
  readonly paths: readonly string[];
  readonly text: string;
}

async function takeStamp(bundleDir: string): Promise<Stamp> {
  const entries = await readdir(bundleDir, { recursive: true }).catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return [];
    throw thrown;
  });
  const paths = [bundleDir, ...entries.sort().map((entry) => join(bundleDir, entry))];
  return { paths, text: stampOf(paths) };
}

function stampOf(paths: readonly string[]): string {
  return paths.map(stampOfOne).join('\n');
}

function stampOfOne(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined ? `${path}:gone` : [path, stats.ino, stats.size, stats.ctimeMs, stats.mode].join(':');
}
