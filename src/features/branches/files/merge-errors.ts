import { ContextdError } from '../../../core/errors.ts';
import { toText } from '../../../fs/raw-path.ts';
import type { Refused } from '../../../sandbox/contract/merge-messages.ts';
import type { Branch } from '../branch.ts';

const CONFLICTS_NAMED_MAX = 20;

/** Why files were not merged. `isWritten`: some of them may be. */
export function conflict({ id }: Pick<Branch, 'id'>, paths: readonly Refused[], isWritten: boolean): ContextdError {
  const person = `or ask the person to run \`ctxd branch merge ${id} --keep-base PATH --take-branch PATH --merge-text PATH\``;
  return new ContextdError('CONFLICT', notMerged(id, paths, isWritten), {
    remedy: isWritten
      ? `Return again to go on with what is no conflict any more; ${person}; or return with "files":"discard", which leaves what is merged (\`ctxd undo\` takes it back).`
      : `Make these paths in the branch as they are in the workspace, and return again; ${person}; or return with "files":"discard".`,
    details: { branch: id, paths: paths.slice(0, 100).map(({ path }) => toText(path)) },
  });
}

/** Nothing of the branch is lost: it has its files until all are merged. */
export function notWritten({ id }: Pick<Branch, 'id'>, failed: readonly Refused[], isWritten: boolean): ContextdError {
  const isFull = failed.some(({ why }) => /^(?:ENOSPC|EDQUOT)\b/.test(why));
  return new ContextdError(isFull ? 'STORAGE_FULL' : 'CONFLICT', notMerged(id, failed, isWritten), {
    remedy: `${isFull ? 'Free disk space' : 'Make these paths writable'} and return again, or return with "files":"discard": the branch has kept everything.`,
    details: { branch: id, paths: failed.slice(0, 100).map(({ path }) => toText(path)) },
  });
}

function notMerged(id: string, paths: readonly Refused[], isWritten: boolean): string {
  const named = paths.slice(0, CONFLICTS_NAMED_MAX).map(({ path, why }) => `${toText(path)} (${why})`);
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : '';
  const written = isWritten ? 'other files may be merged already' : 'nothing was written';
  return `branch ${id} is not merged, ${written}: ${named.join(', ')}${more}`;
}
