/** What HFS+ ignores in a name (git's utf8.c, next_hfs_char). */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** Most names need no closer look: one character per byte, a dot-only or empty component, `git` in any case, or not ASCII. */
const NEEDS_A_LOOK = /(?:^|\/)\.{0,2}(?:\/|$)|git|[^ -~]/i;

/**
 * Whether git accepts a path in its index (read-cache.c, verify_path): relative, without empty components, `.`, `..` and
 * anything that some file system takes for `.git`. One character per byte.
 */
export function isIndexedPath(path: string): boolean {
  if (!NEEDS_A_LOOK.test(path)) return true;
  if (path.split('/').some((name) => name === '' || name === '.' || name === '..')) return false;
  return !path.split(/[/\\]/).some(isLikeDotGit);
}

/** Case, ignored characters, streams of NTFS (`.git:x`) and its short name count as `.git`. */
function isLikeDotGit(name: string): boolean {
  const text = Buffer.from(name, 'latin1').toString('utf8').replace(IGNORED_BY_HFS, '').toLowerCase();
  const onNtfs = text.replace(/:.*$/s, '').replace(/[ .]+$/, '');
  return onNtfs === '.git' || onNtfs === 'git~1';
}
