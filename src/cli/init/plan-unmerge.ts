import { ContextdError } from '../../core/errors.ts';
import type { OwnedDirectory } from '../files/owned-directory.ts';
import type { Action } from './action.ts';
import { type Addition, type MergeRecord, unmerge } from './merged-file.ts';

/** Plans taking an addition out of a file again. `kept`: the file cannot be read, so it stays. */
export function planUnmerge(
  root: OwnedDirectory,
  path: string,
  addition: Addition,
  record: MergeRecord,
): Action | 'kept' | undefined {
  const found = root.inspect(path);
  if (found.kind === 'missing') return undefined;
  if (found.kind !== 'file') return 'kept';
  try {
    const text = unmerge(found.text, addition, record);
    if (text === undefined) return { kind: 'remove', path };
    return text === found.text ? undefined : { kind: 'write', path, text, replaces: true, mode: found.mode };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ContextdError) return 'kept';
    throw error;
  }
}
