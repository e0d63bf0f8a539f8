import { closeSync } from 'node:fs';
import { parseGitConfig } from './git-config.ts';
import { findRunningKey } from './git-config-keys.ts';
import { openFile, readUpTo } from './inode.ts';
import type { RawPath } from './raw-path.ts';

/** Bytes of a file that is read as a git configuration. */
const CONFIG_MAX_BYTES = 1024 * 1024;
/** Parts of names that every key has which is looked for: most files are done with after this. */
const TELLING =
  /fsmonitor|hookspath|command|cmd|proxy|pager|editor|askpass|attributesfile|worktree|alias|path|insteadof|program|helper|hook|textconv|driver|clean|smudge|process|diff|external|browser|httpd|smtp|tunnel|pack|vcs|url|remote|update|allow|templatedir/i;

/**
 * The key with which a file would run a program, include a file or leave the tree if git took it for a configuration;
 * null when it has none, when git could not read it, and past 1 MiB. A configuration can be put to use long after it was
 * written, by one line elsewhere, so it is looked for under every name.
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

/** The first thing in a configuration, comments aside, is a section: git refuses a key without one. */
function beginsLikeConfig(text: string): boolean {
  return /^(?:\u00ef\u00bb\u00bf)?(?:[ \t\r\n]|[#;][^\n]*\n)*\[/.test(text);
}
