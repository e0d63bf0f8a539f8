import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { createFixture, type Fixture, PROXY, snapshot, TOOLS, toolText } from '../unit/cli/init/tree.ts';

describe('issue 30.2.5: what ctxd init creates, in git', () => {
  let project: Fixture;
  const git = (command: string): string =>
    execFileSync('sh', ['-c', command], { cwd: project.root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const file = () => join(project.root, '.git/info/exclude');
  const exclude = () => readFileSync(file(), 'utf8');
  beforeEach(async () => {
    project = await createFixture();
    git('git init -qb main && git config user.name a && git config user.email a@example.com');
    git('echo 1 >a && git add a && git commit -qm first && echo mine >>.git/info/exclude');
  });
  afterEach(() => project.remove());

  it('is left out, until it is uninstalled', async () => {
    const before = await snapshot(project.root);
    const { updated } = await project.init();
    expect(updated).toEqual(['.git/info/exclude']);
    expect(git('git status --porcelain -uall')).toBe('');
    expect((await project.init()).updated).toEqual([]);
    await project.init([...TOOLS, toolText('safe_more')]);
    expect(git('git status --porcelain -uall')).toBe('');
    // Only what init made: files beside it are the person's.
    writeFileSync(join(project.root, '.claude/rules/mine.md'), 'x');
    writeFileSync(join(project.root, '.claude/settings.old.json'), '{}');
    expect(git('git status --porcelain -uall')).toBe('?? .claude/rules/mine.md\n?? .claude/settings.old.json\n');
    git('rm .claude/rules/mine.md .claude/settings.old.json');
    await project.uninstall();
    expect(await snapshot(project.root)).toEqual(before);
  });

  it('is seen if the person had the file, wants to see it, removed the lines or tracks one of the files', async () => {
    mkdirSync(join(project.root, '.claude'));
    writeFileSync(join(project.root, '.claude/settings.json'), '{}\n');
    await project.init();
    expect(git('git status --porcelain -uall')).toBe('?? .claude/settings.json\n');

    await project.init(TOOLS, PROXY, true);
    expect(exclude()).toMatch(/mine\n$/);
    expect(git('git status --porcelain -uall')).toContain('?? .claude/rules/contextd.md');
    expect((await project.init()).updated).toEqual([]);
    await project.uninstall();

    await project.init();
    writeFileSync(file(), 'mine\n');
    expect((await project.init()).updated).toEqual([]);
    await project.uninstall();
    expect(exclude()).toBe('mine\n');

    await project.init(TOOLS, PROXY, true);
    git('git add .claude/rules && git commit -qm rules');
    rmSync(project.projectsDir, { recursive: true });
    await project.init();
    expect(exclude()).toBe('mine\n');
  });

  it('changes nothing where the file is a link, is not there or is of another repository', async () => {
    rmSync(file());
    symlinkSync('../../list', file());
    expect((await project.init()).updated).toEqual([]);
    await project.uninstall();
    git('rm -rf .git/info');
    expect((await project.init()).updated).toEqual([]);
    await project.uninstall();
    rmSync(join(project.root, '.git'), { recursive: true });
    writeFileSync(join(project.root, '.git'), 'gitdir: /nowhere\n');
    expect((await project.init()).updated).toEqual([]);
  });
});

describe('issue 30.2.5: a project that was just set up', () => {
  let at: Installation;
  afterEach(() => at.remove());

  it('can be stashed with its untracked files and cleaned', async () => {
    at = await install({ init: false, warm: true });
    const host = (command: string) => execFileSync('sh', ['-c', command], { cwd: at.project, encoding: 'utf8' });
    host('git init -qb main && git config user.name a && git config user.email a@example.com');
    host('echo 1 >a && git add a && git commit -qm first');
    await at.run(CTXD, ['init', '--yes']);
    for (const command of [
      'echo 2 >a; echo new >b; git stash -u && cat a && ls b; test ! -e b && git stash pop && cat a b',
      'git clean -fd && test ! -e b && git clean -fdq && git status --porcelain',
    ]) {
      const { data, meta } = await at.ask('safe_bash', { command });
      expect(data.exit_code).toBe(0);
      expect(`${data.stdout}${data.stderr}`).not.toMatch(/failed to|warning/);
      expect(meta.denied ?? []).toEqual([]);
    }
  });
});
