import { isErrno } from '../../core/errors.ts';
import { exactStatAt, identityOf, statAt } from '../../fs/file-access.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import { newestOf } from '../../fs/read-directory.ts';
import { type Content, examine, type HashLimits } from './content-hash.ts';

/** What is hashed when it is set aside. A run can make any number of files, and the search goes on meanwhile. */
const HASHED_AT_ONCE: HashLimits = { bytes: 1024 * 1024, entries: 200 };

/** Marks a state without a hash: which inode it is, and the newest ctime in it. */
const BY_TIME = 'time:';

/** The state of some content: its SHA-256, or if it has none, which inode it is and when it changed last. */
export function stateOf(path: RawPath, { sha256 }: Pick<Content, 'sha256'>, pause: () => void): string {
  return sha256 ?? stateByTime(path, pause);
}

/** The state of what has just been set aside; null if it is gone or cannot be read. */
export function stateNow(moved: RawPath, pause: () => void): string | null {
  try {
    const content = examine(moved, pause, HASHED_AT_ONCE);
    return content === null ? null : stateOf(moved, content, pause);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}

/** Whether content is still in a state that was recorded. */
export function isInState(path: RawPath, content: Pick<Content, 'sha256'>, state: string, pause: () => void): boolean {
  return state.startsWith(BY_TIME) ? stateByTime(path, pause) === state : content.sha256 === state;
}

function stateByTime(path: RawPath, pause: () => void): string {
  const [stats, exact] = [statAt(path), exactStatAt(path)];
  if (stats === null || exact === null) return `${BY_TIME}gone`;
  return `${BY_TIME}${identityOf(exact)}@${newestOf(path, stats, () => false, pause).newestMs}`;
}
