import { closeSync } from 'node:fs';
import { openFile, readUpTo } from '../../fs/file-access.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import { parseGitConfig } from './config.ts';
import { findRunningKey } from './config-keys.ts';

/** Largest file that is read as a git configuration. */
const CONFIG_MAX_BYTES = 1024 * 1024;
/** Every key that is searched for contains one of these; most files contain none and need no parsing. */
const TELLING =
  /fsmonitor|hookspath|command|cmd|proxy|pager|editor|askpass|attributesfile|worktree|alias|path|insteadof|program|helper|hook|textconv|driver|clean|smudge|process|diff|external|browser|httpd|smtp|tunnel|pack|vcs|url|remote|update|allow|templatedir|partialclone/i;

/**
 * The key with which a file would run a program, include a file or leave the tree if git read it as a configuration. Null if
 * the file has no such key, if git could not read it, or if it is larger than 1 MiB. One line elsewhere can make git read a
 * configuration long after it was written, so files of every name are checked.
 */
export function findStrayKey(path: RawPath): string | null {
  const fd = openFile(path);
  if (fd === null) return null;
  try {
    const text = readUpTo(fd, CONFIG_MAX_BYTES);
    if (text === null || !beginsLikeConfig(text) || !TELLING.test(text)) return null;
    const entries = parseGitConfig(text);
    return entries === null ? null : findRunningKey(entries);
  } finally {
    closeSync(fd);
  }
}

/** Apart from comments, a configuration begins with a section: git refuses a key without one. */
function beginsLikeConfig(text: string): boolean {
  return /^(?:\u00ef\u00bb\u00bf)?(?:[ \t\r\n]|[#;][^\n]*\n)*\[/.test(text);
}
