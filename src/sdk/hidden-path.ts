import type { Stats } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { ContextdError, isErrno } from '../core/errors.ts';
import { quoteName } from '../core/own-line.ts';
import { isBelow } from '../core/paths.ts';

/** A hidden file is covered by /dev/null, which is this device on Linux. */
const NULL_DEVICE = 0x103;
/** A hidden directory is covered by a read-only tmpfs of this size. */
const TMPFS_MAGIC = 0x01021994;
const COVER_BYTES = 4096;

/**
 * Returns the error that says that a pattern of `sandbox.deny` hides the path, if one does; otherwise the error itself. A
 * hidden path looks like a device or like a path that does not exist, so the system's own error would be misleading.
 */
export async function explainHidden(thrown: unknown, workspace: string, absolute: string): Promise<unknown> {
  if (!(thrown instanceof ContextdError) || !MISLEADING.has(thrown.code)) return thrown;
  const hidden = await hiddenPlace(workspace, absolute);
  return hidden === null ? thrown : hiddenFault(relative(workspace, hidden));
}

const MISLEADING = new Set(['PATH_NOT_FOUND', 'PATH_INVALID', 'PERMISSION_DENIED', 'CONFLICT']);

function hiddenFault(shown: string): ContextdError {
  const rule = 'a pattern of sandbox.deny hides this path from tools';
  const howToAllow = 'A person can remove the pattern from sandbox.deny, or do it outside contextd.';
  return new ContextdError('PERMISSION_DENIED', `hidden from tools by a pattern of sandbox.deny: ${quoteName(shown)}`, {
    remedy: howToAllow,
    details: { kind: 'hidden', path: shown, rule, how_to_allow: howToAllow },
  });
}

/** The nearest existing path at or above `absolute`, if it is covered; null otherwise. */
async function hiddenPlace(workspace: string, absolute: string): Promise<string | null> {
  for (let path = absolute; isBelow(workspace, path); path = dirname(path)) {
    const stats = await statOrNull(path);
    if (stats === null) continue;
    return (await isCover(path, stats)) ? path : null;
  }
  return null;
}

async function isCover(path: string, stats: Stats): Promise<boolean> {
  if (!stats.isDirectory()) return stats.isCharacterDevice() && stats.rdev === NULL_DEVICE;
  const { type, blocks, bsize } = await statfs(path);
  return type === TMPFS_MAGIC && blocks * bsize === COVER_BYTES;
}

async function statOrNull(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (thrown) {
    if (isErrno(thrown)) return null;
    throw thrown;
  }
}
