import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Installation, install } from '../helpers/installation.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
});
afterAll(() => at.remove());

it('issue 30.2.4: one ctxd init in the main repository serves a worktree below .claude/worktrees', async () => {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: at.project,
      encoding: 'utf8',
    });
  git('init', '-q', '-b', 'main', '.');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  git('worktree', 'add', '-q', '.claude/worktrees/one');
  const worktree = join(at.project, '.claude/worktrees/one');
  const env = { PATH: `${at.project}/.claude/bin:${at.environment.PATH ?? '/usr/bin:/bin'}` };
  const called = await at.runProcess('safe_bash', ['{"command":"pwd; echo 1 >made; git status --short"}'], {
    cwd: worktree,
    env,
  });
  expect(JSON.parse(called.stdout)).toMatchObject({ success: true, data: { stdout: `${worktree}\n?? made\n` } });
  const path = '.claude/worktrees/one/src/written';
  expect(await at.ask('safe_write', { path, content: 'two\n' })).toMatchObject({ success: true });
  expect(readFileSync(join(at.project, path), 'utf8')).toBe('two\n');
  mkdirSync(join(at.project, '.claude/worktrees/two'));
  for (const kept of ['.claude/agents/a.md', '.claude/worktrees/one/.claude/agents/a.md', '.claude/worktrees/two/a.md'])
    expect(await at.ask('safe_write', { path: kept, content: 'x' })).toMatchObject({
      data: { error_code: 'PERMISSION_DENIED' },
    });
});
