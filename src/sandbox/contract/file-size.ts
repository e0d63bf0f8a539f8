import type { Denial } from '../../core/envelope.ts';

/** A file that reached the size limit of one file. `path`: absent if only the signal or the error is known. */
export function fileTooLarge(maxBytes: number, path?: string): Denial {
  return {
    kind: 'file_size',
    ...(path === undefined ? {} : { path }),
    rule: `a file that a command writes may have ${Math.floor(maxBytes / 1024 ** 2)} MiB (sandbox.file_max_mb)`,
    how_to_allow:
      'Write several smaller files. A person can raise the limit: `ctxd config set sandbox.file_max_mb MEBIBYTES`.',
  };
}
