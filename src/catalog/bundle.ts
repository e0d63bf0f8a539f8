import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';

/** Any execute bit. It decides whether a file is a program, so it is part of what a person accepts. */
const EXECUTABLE = 0o111;

/**
 * The identity of a tool bundle: sha256 over the sorted list of its files, each as
 * `<path>\0<"x" for a program, otherwise "-">\0<sha256 of the bytes>\n`. Throws INTEGRITY_FAILED for symlinks and special
 * files: what is hashed must be what runs.
 */
export async function hashBundle(dir: string): Promise<string> {
  const total = createHash('sha256');
  for (const [file, identity] of await hashFiles(dir)) total.update(`${file}\0${identity}\n`);
  return total.digest('hex');
}

/** The files of a bundle, sorted: path, and `<"x" or "-">\0<sha256 of the bytes>`. */
export async function hashFiles(dir: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const file of await listFiles(dir)) {
    const path = join(dir, file);
    const [bytes, kind] = [await readFile(path), (await isExecutable(path)) ? 'x' : '-'];
    files.set(file, `${kind}\0${createHash('sha256').update(bytes).digest('hex')}`);
  }
  return files;
}

/**
 * Copies a bundle to `<toolsDir>/<sha256>`, the only place tools run from, and returns its hash. The hash is that of the
 * copy, so that it is right even if the source changes while it is copied.
 */
export async function publishBundle(sourceDir: string, toolsDir: string): Promise<string> {
  const known = await hashBundle(sourceDir);
  if (await isIntact(join(toolsDir, known), known)) return known;
  const staging = join(toolsDir, `.staging-${process.pid}-${known.slice(0, 16)}`);
  await rm(staging, { recursive: true, force: true });
  await mkdir(toolsDir, { recursive: true, mode: 0o700 });
  await cp(sourceDir, staging, { recursive: true, errorOnExist: true });
  const copied = await hashBundle(staging);
  // Readable by the user the sandbox runs as; the directories above keep mode 0700.
  await makeReadable(staging);
  const target = join(toolsDir, copied);
  await rm(target, { recursive: true, force: true });
  await rename(staging, target);
  return copied;
}

/** Throws INTEGRITY_FAILED unless the published bundle still has the hash in its name (SEC-4.1). */
export async function verifyBundle(dir: string, sha256: string, remedy: string): Promise<void> {
  if (await isIntact(dir, sha256)) return;
  throw new ContextdError(
    'INTEGRITY_FAILED',
    `the tool bundle at ${dir} does not have the hash ${sha256} it was accepted with`,
    {
      remedy,
      details: { expected_sha256: sha256 },
    },
  );
}

async function isIntact(dir: string, sha256: string): Promise<boolean> {
  try {
    return (await hashBundle(dir)) === sha256;
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR') || thrown instanceof ContextdError) return false;
    throw thrown;
  }
}

async function listFiles(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) continue;
    if (!entry.isFile()) {
      throw new ContextdError('INTEGRITY_FAILED', `${path} in a tool bundle is neither a file nor a directory`, {
        remedy: 'Remove it and build the bundle again.',
      });
    }
    files.push(relative(dir, path).split(sep).join('/'));
  }
  return files.sort();
}

async function makeReadable(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const file of await listFiles(dir)) {
    const path = join(dir, file);
    await chmod(path, (await isExecutable(path)) ? 0o755 : 0o644);
    await chmod(dirname(path), 0o755);
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return ((await stat(path)).mode & EXECUTABLE) !== 0;
}
