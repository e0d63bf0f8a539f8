import { isUtf8 } from 'node:buffer';

/**
 * A path as the kernel has it, one character (U+0000 to U+00FF) per byte: a name need not be UTF-8, and one that is not
 * must be found again. An ASCII path is the same in both forms.
 */
export type RawPath = string;

/** Bytes of the longest path that the kernel takes at once, without the final NUL. */
export const PATH_MAX_BYTES = 4095;

const NOT_ASCII = /[\u0080-\uffff]/;

export function toRaw(text: string): RawPath {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}

/** For people, programs and mounts; bytes that are no UTF-8 become U+FFFD, so check `isNameable` before using it as a path. */
export function toText(raw: RawPath): string {
  return NOT_ASCII.test(raw) ? Buffer.from(raw, 'latin1').toString('utf8') : raw;
}

/** For node:fs. */
export function toSystem(raw: RawPath): string | Buffer {
  return NOT_ASCII.test(raw) ? Buffer.from(raw, 'latin1') : raw;
}

/** Whether a mount can name the path: it is UTF-8, so `toText` loses nothing, and no longer than the kernel takes. */
export function isNameable(raw: RawPath): boolean {
  return raw.length <= PATH_MAX_BYTES && (!NOT_ASCII.test(raw) || isUtf8(Buffer.from(raw, 'latin1')));
}

/** `path` below `root`, without the slash; empty for the root itself. */
export function below(root: RawPath, path: RawPath): string {
  return path.slice(root.length + 1);
}

/** Whether `path` is `root` or lies below it. */
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
