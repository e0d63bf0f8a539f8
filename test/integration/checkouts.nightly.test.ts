import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Ground, identitiesHere } from '../helpers/sandbox-identities.ts';

const PLACE = '.claude/worktrees';

describe.each(identitiesHere())('worktrees below .claude/worktrees, %s', (identity) => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await Ground.open(identity);
  });
  afterAll(() => ground.close());
  beforeEach(() => {
    ground.newProject();
    ground.host(
      'git init -q -b main . && git config user.name a && git config user.email a@example.com && mkdir -p .claude/agents .vscode && echo {} >.claude/settings.json',
    );
    ground.host('echo {} >.vscode/tasks.json && echo 1 >file && git add -A && git commit -qm first');
    ground.host(`git worktree add -q ${PLACE}/one`);
  });

  const at = (...path: string[]): string => join(ground.workspace, ...path);
  const one = (): string => at(PLACE, 'one');

  test('issue 30.2.4: are written, committed in and searched like the project', async () => {
    const work = await ground.run(
      'echo 2 >>file && mkdir -p src/deep && echo 3 >src/deep/new && git commit -qam second',
      {
        cwd: one(),
      },
    );
    expect(work).toMatchObject({ exitCode: 0, err: '' });
    expect(ground.host(`git -C ${PLACE}/one log --format=%s`)).toBe('second\nfirst\n');
    const fromAbove = await ground.run(`echo 4 >${PLACE}/one/src/deep/new && cat ${PLACE}/one/src/deep/new`);
    expect(fromAbove).toMatchObject({ exitCode: 0, out: '4\n' });
  });

  test('issue 30.2.4: stay registered if a command removes them, and the remedies of the answer lead to success', async () => {
    const inside = (script: string) => ground.run(script, { policy: { git: 'working' } });
    ground.host('git worktree add -q wt/p && echo mine >.git/worktrees/p/locked && git worktree unlock wt/p');
    ground.host('git worktree add -q wt/locked && git worktree lock --reason "not yet" wt/locked');
    const registered = ground.host('git worktree list --porcelain');
    for (const [dir, options] of [
      [`${PLACE}/one`, ''],
      ['wt/p', ''],
      ['wt/p', '--force'],
      ['wt/locked', '-f -f'],
    ] as const) {
      const removed = await inside(`git worktree remove ${options} ${dir}`);
      expect(removed.exitCode).not.toBe(0);
      expect(removed.denied).toMatchObject([{ kind: 'read_only', path: at(dir) }]);
      expect(ground.host('git worktree list --porcelain')).toBe(registered);
      const remedies = [...(removed.denied[0]?.how_to_allow ?? '').matchAll(/`([^`]+)`/g)].map(([, line = '']) => line);
      expect(await inside(remedies[0] ?? '')).toMatchObject({ exitCode: 0, err: '' });
      expect(ground.host(`git -C ${dir} status --porcelain`)).toBe('');
      expect(remedies[1]).toBe(`git worktree remove ${at(dir)}`);
    }
    ground.host(`git worktree remove ${at('wt/p')} && git worktree remove ${at(PLACE, 'one')}`);
    expect(ground.host('git worktree unlock wt/locked && git worktree remove wt/locked; ls .git')).not.toContain(
      'worktrees',
    );
    // The command's own ones go.
    const own = await inside('git worktree add -q own && git worktree remove own && git worktree list | wc -l');
    expect(own).toMatchObject({ exitCode: 0, denied: [], out: '1\n' });
  });

  test('issue 30.2.4: what is protected in a project is protected in them too', async () => {
    for (const script of [
      'echo x >.claude/settings.json',
      'echo x >.vscode/tasks.json',
      'echo x >.git',
      'rm -f .git',
      'mv .git elsewhere',
      'echo x >../../settings.json',
      'echo x >../../agents/mine.md',
      'mkdir ../two',
      'mv ../one ../two',
      'echo x >"$(git rev-parse --git-common-dir)/hooks/pre-commit"',
    ]) {
      const { exitCode } = await ground.run(script, { cwd: one() });
      expect([script, exitCode]).not.toEqual([script, 0]);
    }
    expect(readFileSync(at(PLACE, 'one/.claude/settings.json'), 'utf8')).toBe('{}\n');
    const made = await ground.run(
      'echo x >.envrc; echo {} >.mcp.json; mkdir -p sub/.vscode; echo {} >sub/.vscode/tasks.json',
      {
        cwd: one(),
      },
    );
    expect([...made.quarantined].sort()).toEqual(
      ['.envrc', '.mcp.json', 'sub/.vscode'].map((name) => at(PLACE, 'one', name)),
    );
    for (const name of ['.envrc', '.mcp.json', 'sub/.vscode']) expect(existsSync(at(PLACE, 'one', name))).toBe(false);
    expect(lstatSync(at('.claude/agents')).isDirectory()).toBe(true);
  });

  test('issue 30.2.4: a file in a worktree is no original that the project could copy', async () => {
    ground.host('rm -r .vscode && git commit -qam less');
    ground.host(`git -C ${PLACE}/one rm -qr .vscode && git -C ${PLACE}/one commit -qm less`);
    const { quarantined } = await ground.run(
      `for d in ${PLACE}/one .; do mkdir $d/.vscode && echo evil >$d/.vscode/tasks.json; done`,
    );
    expect([...quarantined].sort()).toEqual([at(PLACE, 'one/.vscode'), '.vscode'].sort());
  });

  test('issue 30.2.4: one that a person adds is writable in the next call, and one that is removed does no harm', async () => {
    await ground.run('true');
    ground.host(`git worktree add -q ${PLACE}/two && git worktree remove ${PLACE}/one`);
    const { exitCode, out } = await ground.run('echo 2 >>file && git status -s', { cwd: at(PLACE, 'two') });
    expect([exitCode, out]).toEqual([0, ' M file\n']);
  });

  test('SEC: what is no worktree of the project’s repository stays read-only, whatever a command registers', async () => {
    ground.host(`mkdir ${PLACE}/plain && git init -q ${PLACE}/clone && git init -q "$HOME/foreign"`);
    ground.host(
      `at="$PWD"; cd "$HOME/foreign" && git commit -q --allow-empty -m x && git worktree add -q "$at/${PLACE}/other"`,
    );
    ground.host(`git worktree add -q ${PLACE}/gone && mv .git/worktrees/gone ${PLACE}/plain/kept`);
    mkdirSync(at('elsewhere'), { recursive: true });
    ground.host(`ln -s ../../elsewhere ${PLACE}/link`);
    const forge = ['plain', 'clone', 'other', 'link']
      .map(
        (name) =>
          `mkdir -p .git/worktrees/${name} && cp .git/worktrees/one/* .git/worktrees/${name}/ 2>/dev/null; ` +
          `echo "$PWD/${PLACE}/${name}/.git" >.git/worktrees/${name}/gitdir; `,
      )
      .join('');
    await ground.run(forge);
    for (const name of ['plain', 'clone', 'other', 'gone']) {
      const { exitCode, err } = await ground.run(`echo x >${PLACE}/${name}/f`);
      expect([name, exitCode, err]).toEqual([name, 1, expect.stringContaining('Read-only file system')]);
    }
    await ground.run(`rm ${PLACE}/link; mkdir -p ${PLACE}/made; git worktree add ${PLACE}/made-by-git`);
    expect(existsSync(at(PLACE, 'made'))).toBe(false);
    expect(existsSync(at(PLACE, 'made-by-git'))).toBe(false);
    expect(lstatSync(at(PLACE, 'link')).isSymbolicLink()).toBe(true);
  });

  test('SEC: a worktree whose registration a command turns elsewhere is read-only again', async () => {
    await ground.run(
      'mkdir fake && cp -r .git/worktrees/one fake/reg && echo "$PWD/fake/.git" >.git/worktrees/one/gitdir',
    );
    const { exitCode, err } = await ground.run('echo x >f', { cwd: one() });
    expect([exitCode, err]).toEqual([1, expect.stringContaining('Read-only file system')]);
  });

  test('SEC: in a branch with files of its own they are read-only', async () => {
    await ground.createLayer('b');
    const { exitCode } = await ground.run(`echo x >${PLACE}/one/f`, ground.in('b'));
    expect(exitCode).not.toBe(0);
    expect(existsSync(at(PLACE, 'one/f'))).toBe(false);
  });

  test('a deny glob that hides .claude hides them', async () => {
    const { exitCode } = await ground.run(`echo x >${PLACE}/one/f`, { policy: { deny: ['.claude'] } });
    expect(exitCode).not.toBe(0);
  });
});
