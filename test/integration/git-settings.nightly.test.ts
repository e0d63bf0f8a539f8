import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import { type Bench, type Outcome, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

const WORKING = { git: 'working', network: 'project' } as const;

describe.each(whoCanRun())('issue 30.2.5: settings of git that a command makes, in a %s', (who) => {
  let bench: Bench;
  const inside = (script: string, policy: Partial<SandboxPolicy> = {}): Promise<Outcome> =>
    bench.bash(script, {}, { ...WORKING, ...policy });
  const configOf = (file = 'config') => readFileSync(join(bench.workspace, '.git', file), 'utf8');
  const listed = () => bench.host('ls').trim().split('\n');

  beforeAll(async () => {
    bench = await openBench(who);
    bench.host('git init -qb main . && git config user.name a && git config user.email a@example.com');
    bench.host('mkdir one two && echo a >one/a && echo b >two/b && git add . && git commit -qm first');
  });
  afterAll(() => bench.close());

  test('issue 30.2.5: a sparse checkout stays, is changed and ends by later calls, on both sides', async () => {
    const set = await inside('git sparse-checkout set one && ls');
    expect([set.exitCode, set.out, set.denied]).toEqual([0, 'one\n', []]);
    expect(listed()).toEqual(['one']);
    expect(bench.host('git sparse-checkout list; git status --porcelain')).toBe('one\n');
    expect(await inside('git sparse-checkout list; git status --porcelain')).toMatchObject({
      out: 'one\n',
      denied: [],
    });

    const more = await inside('git sparse-checkout add two && ls');
    expect([more.err, more.exitCode, more.out, more.denied]).toEqual(['', 0, 'one\ntwo\n', []]);
    expect(bench.host('git sparse-checkout list')).toBe('one\ntwo\n');

    const none = await inside('git sparse-checkout set one && git sparse-checkout disable && ls');
    expect([none.exitCode, none.out, none.denied]).toEqual([0, 'one\ntwo\n', []]);
    expect(bench.host('git config core.sparseCheckout; git status --porcelain')).toBe('false\n');
    expect(existsSync(join(bench.workspace, '.git/config.worktree.lock'))).toBe(false);
  });

  test('issue 30.2.5: a sparse checkout is switched on and off again and again, on both sides', async () => {
    for (const [script, files] of [
      ['git sparse-checkout set one', 'one\n'],
      ['git sparse-checkout add two', 'one\ntwo\n'],
      ['git sparse-checkout disable', 'one\ntwo\n'],
      ['git sparse-checkout set --no-cone /two/', 'two\n'],
      ['git sparse-checkout set --cone --sparse-index two', 'two\n'],
      ['git sparse-checkout reapply --no-sparse-index', 'two\n'],
      ['git sparse-checkout disable', 'one\ntwo\n'],
      ['git sparse-checkout set one', 'one\n'],
    ] as const)
      expect([script, await inside(`${script} && ls`)]).toMatchObject([script, { out: files, err: '', denied: [] }]);
    expect(bench.host('git sparse-checkout set two && ls && git sparse-checkout disable && ls')).toBe(
      'two\none\ntwo\n',
    );
    expect(configOf('config.worktree').match(/sparseCheckout =/gi)).toEqual(['sparseCheckout =']);
  });

  test('issue 30.2.5: a sparse checkout heals that has a key twice, by any command', async () => {
    const double = '[core]\n\tsparseCheckout = true\n[core]\n\tsparsecheckout = false\n';
    const file = join(bench.workspace, '.git/config.worktree');
    writeFileSync(file, double);
    expect(await inside('git sparse-checkout set one && ls')).toMatchObject({ out: 'one\n', denied: [] });
    bench.host('git sparse-checkout disable');
    writeFileSync(file, double);
    await inside('true');
    expect(bench.host('git sparse-checkout set two && ls && git sparse-checkout disable')).toBe('two\n');
  });

  test('issue 30.2.5: a configuration of a worktree with another key is not read by the host', async () => {
    const script = 'git config extensions.worktreeConfig true; git config --worktree core.fsmonitor ./evil; true';
    const { denied } = await inside(`git clone -q . other && cd other && ${script}`);
    expect(denied.map(({ kind }) => kind)).toEqual([]);
    const here = await inside('git config --worktree alias.st "!touch /tmp/x"; git config --worktree core.hooksPath x');
    expect(here.denied.map(({ how_to_allow }) => how_to_allow)).toEqual([
      expect.stringContaining('core.hookspath, alias.st'),
    ]);
    expect(configOf('config.worktree')).not.toMatch(/alias|hooks/i);
    await inside('rm -rf other');
  });

  test('SEC-2.3: a configuration of a worktree that a command makes has no other key than a sparse checkout', async () => {
    await inside('git config extensions.worktreeConfig true');
    const keys = '[remote "origin"]\\n\\tpushurl = https://example.net/x.git\\n[core]\\n\\tbare = true\\n';
    const { quarantined } = await inside(`rm -f .git/config.worktree; printf '${keys}' >.git/config.worktree; true`);
    const stays = existsSync(join(bench.workspace, '.git/config.worktree'));
    expect(stays ? configOf('config.worktree') : '').not.toMatch(/remote|bare/);
    expect(quarantined).toEqual(stays ? [] : ['.git/config.worktree']);
    const { denied } = await inside('git config --worktree remote.origin.url https://example.net/x.git; true');
    expect(denied.map(({ kind }) => kind)).toEqual(['git_config']);
    await inside('git worktree add -q wt && git -C wt config --worktree user.name Mallory; true');
    // The search for what a run made goes on for a moment after a busy machine has answered.
    const names = () => bench.host('git remote; git config user.name; [ ! -e wt ] || git -C wt config user.name');
    await expect.poll(names).not.toContain('Mallory');
    await inside('git worktree remove --force wt; true');
  });

  test('issue 30.2.5: a rename of a remote is refused as one, and each refusal of a call is reported', async () => {
    bench.host('git remote add first https://example.com/a.git && git config branch.main.remote first');
    bench.host('git config branch.main.merge refs/heads/main');
    const { denied } = await inside(
      'git remote rename first second; git remote add bad /srv/x.git; git remote add rel ../x.git; git config alias.x log',
    );
    expect(denied.map(({ how_to_allow }) => how_to_allow)).toEqual([
      'A person can rename it on the host: git remote rename first second',
      'A person can allow it, then add the remote again: ctxd allow path /srv/x.git',
      'A person can change remote.rel, alias.x with git config on the host.',
    ]);
    expect(bench.host('git remote')).toBe('first\n');
    bench.host('git remote rename first second');
    expect(bench.host('git remote; git config branch.main.remote; git remote remove second')).toBe('second\nsecond\n');
  });

  test('SEC-2.3: a remote in the project ends with the command, because a commit can bring hooks to it', async () => {
    const { exitCode, denied } = await inside(
      'git init -qb main --bare up.git && git remote add near "$PWD/up.git" && git push -q near main',
    );
    expect(exitCode).toBe(0);
    expect(denied).toMatchObject([
      { kind: 'git_config', how_to_allow: expect.not.stringContaining('ctxd allow path') },
    ]);
    expect(bench.host('git remote')).toBe('');
    await inside('rm -rf up.git');
  });

  test('issue 30.2.5: a submodule with a plain URL stays, and how it is updated', async () => {
    const part =
      'git config submodule.part.url https://example.com/part.git && git config submodule.part.update rebase';
    expect(await inside(part)).toMatchObject({ exitCode: 0, denied: [] });
    expect(configOf()).toContain('[submodule "part"]');
  });

  test('issue 30.2.5: a remote outside the project ends with the command, and its remedy leads to a push', async () => {
    const path = join(bench.base, 'mine.git');
    mkdirSync(path);
    const { uid, gid } = statSync(bench.workspace);
    chownSync(path, uid, gid);
    bench.host('git init -qb main --bare ../mine.git');
    const { denied } = await inside(`git remote add mine ${path}`);
    expect(denied).toMatchObject([
      { kind: 'git_config', how_to_allow: expect.stringMatching(/ctxd allow path \S+mine\.git$/) },
    ]);
    expect(bench.host('git remote')).toBe('');
    const named = /ctxd allow path (\S+)$/.exec(denied[0]?.how_to_allow ?? '')?.[1] ?? '';
    // What `ctxd allow path` does, then the call again.
    const allow = { allowedPaths: [named] };
    const again = await inside(`git remote add mine ${path} && git push -q mine main`, allow);
    expect([again.err, again.exitCode, again.denied]).toEqual(['', 0, []]);
    expect((await inside('git commit -q --allow-empty -m last && git push -q mine main', allow)).exitCode).toBe(0);
    expect(bench.host('git -C ../mine.git log -1 --format=%s')).toBe('last\n');
  });
});
