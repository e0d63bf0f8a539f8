import { type RawPath, toText } from '../../fs/raw-path.ts';
import type { FileChange, SnapshotReply } from '../../sandbox/contract/snapshot-messages.ts';

/** Merges two consecutive replies. */
export function joinReplies(first: SnapshotReply | null, second: SnapshotReply): SnapshotReply {
  if (first === null) return second;
  const changes = new Map(first.changes.map((change) => [change.path, change]));
  for (const { path, before, after } of second.changes)
    changes.set(path, { path, before: changes.has(path) ? (changes.get(path)?.before ?? null) : before, after });
  return {
    ...second,
    changes: [...changes.values()].filter(({ before, after }) => before !== after),
    missed: [...first.missed, ...second.missed],
  };
}

/** `own`: the changes at the paths, and of directories that were made for them. */
export function splitByPath(
  reply: SnapshotReply,
  paths: readonly RawPath[],
): { own: SnapshotReply; others: SnapshotReply } {
  const at = new Set(paths);
  const above = new Set(paths.flatMap(directoriesAbove));
  const isOwn = ({ path, before }: FileChange): boolean => at.has(path) || (before === null && above.has(path));
  const isMissed = ({ path }: { path: RawPath }): boolean =>
    at.has(path) || (path.endsWith('/') && paths.some((one) => one.startsWith(path)));
  const part = (isPart: boolean): SnapshotReply => ({
    ...reply,
    changes: reply.changes.filter((change) => isOwn(change) === isPart),
    missed: reply.missed.filter((one) => isMissed(one) === isPart),
  });
  return { own: part(true), others: part(false) };
}

/** Those of the names that the text holds as whole words. */
export function namesIn(text: string, names: readonly RawPath[]): string[] {
  return names.map(toText).filter((name) => {
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
      if (!isOfName(text[at - 1]) && !isOfName(text[at + name.length])) return true;
    return false;
  });
}

function isOfName(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}_-]/u.test(char);
}

/** The directories of a path in the project, without the project itself. */
export function directoriesAbove(path: RawPath): RawPath[] {
  const names = path.split('/');
  return names.slice(1).map((_, depth) => names.slice(0, depth + 1).join('/'));
}
