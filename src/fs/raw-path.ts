import { isUtf8 } from 'node:buffer';

/**
 * A path as the kernel stores it, one character (U+0000 to U+00FF) per byte: a name need not be UTF-8. An ASCII path is the
 * same string in both forms.
 */
export type RawPath = string;

/** Longest path that one system call accepts, in bytes, without the final NUL. */
export const PATH_MAX_BYTES = 4095;

const NOT_ASCII = /[\u0080-\uffff]/;

export function toRaw(text: string): RawPath {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** For people, programs and mounts. Bytes that are not UTF-8 become U+FFFD: check `isNameable` before you use it as a path. */
export function toText(raw: RawPath): string {
  return NOT_ASCII.test(raw) ? Buffer.from(raw, 'latin1').toString('utf8') : raw;
}

/** The form that node:fs takes. */
export function toSystem(raw: RawPath): string | Buffer {
  return NOT_ASCII.test(raw) ? Buffer.from(raw, 'latin1') : raw;
}

/** Longest path that a mount can name, in bytes: bubblewrap puts the directory in which it builds the sandbox before it. */
const MOUNTED_PATH_MAX_BYTES = PATH_MAX_BYTES - 64;

/** Whether a mount can name the path: it is UTF-8, so that `toText` loses nothing, and not longer than the kernel accepts. */
export function isNameable(raw: RawPath): boolean {
  return raw.length <= MOUNTED_PATH_MAX_BYTES && (!NOT_ASCII.test(raw) || isUtf8(Buffer.from(raw, 'latin1')));
}

/** `path` relative to `root`, without a slash at the start; empty for the root itself. */
export function below(root: RawPath, path: RawPath): string {
  return path.slice(root.length + 1);
}

/** Whether `path` is `root` or is below it. */
export function isWithin(root: RawPath, path: RawPath): boolean {
  return path === root || path.startsWith(root === '/' ? '/' : `${root}/`);
}

export function parentOf(path: RawPath): RawPath {
  return path.slice(0, path.lastIndexOf('/'));
}

export function nameOf(path: RawPath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Every directory between `root` and `path`, both excluded, outermost first. */
export function parentsBetween(root: RawPath, path: RawPath): RawPath[] {
  const parents: RawPath[] = [];
  for (let parent = parentOf(path); parent.length > root.length; parent = parentOf(parent)) parents.unshift(parent);
  return parents;
}
