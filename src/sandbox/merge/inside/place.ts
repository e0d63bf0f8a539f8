import type { RawPath } from '../../../fs/raw-path.ts';

/** `path` is relative to `root`; '' is the root itself. */
export function systemPath(root: RawPath, path: RawPath): Buffer {
  return Buffer.from(path === '' ? root : `${root}/${path}`, 'latin1');
}
