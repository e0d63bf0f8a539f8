import { ContextdError } from '../../core/errors.ts';
import { formatLock, LOCK_FILE, type LockedTool, lockedTool, parseLock } from '../../install/lock-file.ts';
import type { ToolInfo__Output as ToolInfo } from '../../protocol/generated/management.ts';
import { describeFound, OwnedDirectory } from '../files/owned-directory.ts';
import { applyActions } from '../init/apply.ts';

/** The tools that the project's lock file names; none if there is no file. */
export function readLock(root: OwnedDirectory): LockedTool[] {
  const found = root.inspect(LOCK_FILE);
  if (found.kind === 'missing') return [];
  if (found.kind === 'file') return parseLock(found.text);
  throw new ContextdError('CONFLICT', `${LOCK_FILE} is ${describeFound(found)}`, {
    remedy: 'Replace it by a plain file, then run this again.',
  });
}

/** What a tool that was removed leaves: nothing, and the entries of the others. */
interface LockChange {
  /** The installed tools of the project. */
  tools: readonly ToolInfo[];
  removed?: string;
}

/** Writes what the project has now. Entries of tools that only colleagues have stay. The last tool takes the file with it. */
export function writeLock(path: string, { tools, removed }: LockChange): void {
  const root = OwnedDirectory.at(path);
  const own = tools.map((tool) => lockedTool(tool, path)).filter((entry) => entry !== null);
  const before = readLock(root);
  const others = before.filter(({ name }) => name !== removed && !own.some((entry) => entry.name === name));
  const text = formatLock([...own, ...others]);
  if (own.length + others.length === 0) applyActions(root, [{ kind: 'remove', path: LOCK_FILE }]);
  else if (before.length === 0 || text !== formatLock(before))
    applyActions(root, [{ kind: 'write', path: LOCK_FILE, text, replaces: before.length > 0, mode: 0o644 }]);
}
