import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findCommonGitDir } from '#src/guard/git/git-dir.js';

let base = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-git-')));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function sh(script: string): void {
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: base,
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const done = spawnSync('sh', ['-ec', script], { cwd: base, env, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(done.stderr);
}

test('finds the common directory of a linked worktree by git’s own pointers in both directions', () => {
  sh('git init -q -b main main && cd main && git commit -q --allow-empty -m one && git worktree add -q ../wt');
  expect(findCommonGitDir(join(base, 'wt'))).toBe(join(base, 'main/.git'));
  expect(findCommonGitDir(join(base, 'main'))).toBeNull();
  expect(findCommonGitDir(base)).toBeNull();
});

test('SEC-2.3 does not believe a pointer that is stolen, forged or leads to anything else', () => {
  sh('git init -q -b main main && cd main && git commit -q --allow-empty -m one && git worktree add -q ../wt');
  mkdirSync(join(base, 'thief'));
  cpSync(join(base, 'wt/.git'), join(base, 'thief/.git'));
  expect(findCommonGitDir(join(base, 'thief'))).toBeNull();
  for (const text of [`gitdir: ${base}/main`, 'gitdir: /etc', 'gitdir: ', 'x', `gitdir: ${'a'.repeat(9000)}`]) {
    writeFileSync(join(base, 'thief/.git'), text);
    expect(findCommonGitDir(join(base, 'thief'))).toBeNull();
  }
  rmSync(join(base, 'thief/.git'));
  symlinkSync(join(base, 'wt/.git'), join(base, 'thief/.git'));
  expect(findCommonGitDir(join(base, 'thief'))).toBeNull();
});
