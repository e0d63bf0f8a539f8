import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawPath, toText } from '../../../fs/raw-path.ts';
import type { PatchReply } from '../../contract/merge-messages.ts';
import { gitCommand } from '../../snapshots/inside/git.ts';
import { look } from './list.ts';
import { systemPath } from './place.ts';

/** Bytes of a file that is compared. */
const FILE_MAX_BYTES = 4 * 1024 * 1024;
const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

/** The unified differences of files between `root` and `branch`, in which a missing one was removed by the branch. */
export function patch(root: RawPath, branch: RawPath, paths: readonly RawPath[], maxBytes: number): PatchReply {
  const dir = mkdtempSync(join(tmpdir(), 'patch-'));
  try {
    let text = '';
    for (const [index, path] of paths.entries()) {
      if (text.length >= maxBytes) return { patch: text, left: paths.length - index };
      text += patchOf(root, branch, path, dir);
    }
    return { patch: text, left: 0 };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function patchOf(root: RawPath, branch: RawPath, path: RawPath, dir: string): string {
  const [before, after] = [join(dir, 'before'), join(dir, 'after')];
  const [had, has] = [copy(root, path, before), copy(branch, path, after)];
  const name = toText(path);
  const head = `--- ${had === 'none' ? '/dev/null' : `a/${name}`}\n+++ ${has === 'none' ? '/dev/null' : `b/${name}`}\n`;
  if (had === 'large' || has === 'large') return `${head}(larger than 4 MiB)\n`;
  const [command, ...args] = gitCommand(['diff', '--no-index', '--no-ext-diff', '--no-textconv', '--no-color', '--']);
  const options = { cwd: dir, env: ENVIRONMENT, maxBuffer: 4 * FILE_MAX_BYTES, stdio: 'pipe' as const };
  let out: Buffer;
  try {
    out = execFileSync(command, [...args, 'before', 'after'], options);
  } catch (cause) {
    // It ends with 1 if the files differ.
    if (!(cause instanceof Error && 'stdout' in cause && Buffer.isBuffer(cause.stdout))) throw cause;
    out = cause.stdout;
  }
  const all = out.toString('utf8');
  const start = all.indexOf('\n@@ ');
  if (start >= 0) return head + all.slice(start + 1);
  return all.includes('\nBinary files ') ? `${head}(not a text)\n` : head;
}

/** A missing file becomes an empty one, a link a file that holds its target. */
function copy(root: RawPath, path: RawPath, to: string): 'none' | 'large' | 'copied' {
  const entry = look(root, path, 0)?.of;
  writeFileSync(to, '');
  if (entry === undefined || entry.kind === 'd' || entry.kind === 's') return 'none';
  if (entry.bytes > FILE_MAX_BYTES) return 'large';
  if (entry.kind === 'l') writeFileSync(to, readlinkSync(systemPath(root, path), { encoding: 'buffer' }));
  else copyFileSync(systemPath(root, path), to);
  return 'copied';
}
