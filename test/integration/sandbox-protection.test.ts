import { chownSync, existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

const GIT_ENV = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
};

describe.each(whoCanRun())('protected paths, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  beforeEach(() => bench.newWorkspace());
  afterAll(() => bench.close());

  test('SEC-2.3 everyday git works: status, commit, branch, log', async () => {
    bench.host('git init -q -b main . && echo one >a && git add a && git commit -qm first');
    const script =
      'set -e; echo two >>a; git status --short; git commit -qam second; git checkout -qb topic; git log --format=%s; git branch';
    const done = await bench.bash(script, { env: GIT_ENV });
    expect(done).toMatchObject({ exitCode: 0, out: ' M a\nsecond\nfirst\n  main\n* topic\n', quarantined: [] });
    expect(bench.host('git log --format=%s topic && git fsck && git status --short')).toBe('second\nfirst\n');
  });

  test('SEC-2.3 files that git on the host would run cannot be changed, with the exact refusal', async () => {
    bench.host('git init -q -b main . && mkdir -p .git/info && : >.git/info/attributes');
    const { out, err } = await bench.bash(
      [
        'echo x >.git/hooks/post-checkout',
        'echo x >>.git/config',
        'rm -f .git/config',
        'echo x >>.git/info/attributes',
        'mv .git/hooks .git/hooks2',
        'mv .git/info .git/info2',
        'mv .git .git2',
        'git config core.fsmonitor x',
        'ln .git/config other',
      ].join('\n'),
    );
    expect(out).toBe('');
    expect(err).toContain('.git/hooks/post-checkout: Read-only file system');
    expect(err).toContain('.git/config: Read-only file system');
    expect(err).toContain("rm: cannot remove '.git/config': Device or resource busy");
    expect(err).toContain('.git/info/attributes: Read-only file system');
    expect(err).toContain("mv: cannot move '.git/hooks' to '.git/hooks2': Device or resource busy");
    expect(err).toContain("mv: cannot move '.git/info' to '.git/info2': Device or resource busy");
    expect(err).toContain("mv: cannot move '.git' to '.git2': Device or resource busy");
    expect(err).toContain('error: could not write config file .git/config: Device or resource busy');
    expect(err).toContain("failed to create hard link 'other'");
    expect(bench.host('git config --get core.fsmonitor || ls -A .git/hooks | grep -v sample || true')).toBe('');
  });

  test('SEC-2.3 settings of agents, editors and shells are read-only', async () => {
    const dirs = ['.claude', '.opencode', '.agents', '.husky', '.vscode', '.idea'];
    const files = ['.mcp.json', 'opencode.json', '.envrc', '.bashrc', '.zshrc', '.profile', 'contextd.lock'];
    bench.host(`mkdir ${dirs.join(' ')}; touch ${files.join(' ')}`);
    const { out, err } = await bench.bash(
      `for d in ${dirs.join(' ')}; do : >$d/x; mv $d moved; done; for f in ${files.join(' ')}; do echo x >$f; rm -f $f; done; git init -q 2>&1`,
    );
    expect(out).toBe('');
    expect(err.match(/Read-only file system/g)).toHaveLength(dirs.length + files.length);
    expect(err.match(/Device or resource busy/g)).toHaveLength(dirs.length + files.length);
    for (const name of [...dirs, ...files]) expect(existsSync(join(bench.workspace, name))).toBe(true);
  });

  test('SEC-2.3 protected names that appear are moved aside and reported', async () => {
    bench.host('git init -q . && rm -rf .git/hooks .git/info');
    const done = await bench.bash(
      'mkdir -p .vscode .git/hooks .git/info; echo x >.vscode/tasks.json; echo x >.envrc; ln -s /tmp/x .claude; echo x >.git/hooks/post-checkout; echo /tmp >.git/commondir; echo x >.git/info/attributes; echo fine >file',
    );
    expect(done.exitCode).toBe(0);
    expect(done.quarantined).toEqual([
      '.claude',
      '.envrc',
      '.git/commondir',
      '.git/hooks',
      '.git/info/attributes',
      '.vscode',
    ]);
    for (const name of done.quarantined)
      expect(lstatSync(join(bench.workspace, name), { throwIfNoEntry: false })).toBeUndefined();
    const { items } = await bench.sandbox.quarantine(bench.policy(), { kind: 'list', which: null });
    const moved = items.find(({ path }) => path === '.vscode')?.moved ?? '';
    expect(readFileSync(join(moved, 'tasks.json'), 'utf8')).toBe('x\n');
    expect(readFileSync(join(bench.workspace, 'file'), 'utf8')).toBe('fine\n');
    expect((await bench.bash('true')).quarantined).toEqual([]);
  });

  test('SEC-2.3 a file is moved aside even if the run closed its directory', async () => {
    const done = await bench.bash('echo x >.envrc; chmod 500 .');
    expect(done.quarantined).toEqual(['.envrc']);
    expect(existsSync(join(bench.workspace, '.envrc'))).toBe(false);
    bench.host('chmod 700 .');
  });

  test('SEC-2.3 a protected link keeps its target, and the target inside is read-only', async () => {
    bench.host('mkdir -p conf/claude && ln -s conf/claude .claude');
    const done = await bench.bash(
      ': >conf/claude/x; mv conf conf2; rm .claude; mkdir .claude; echo x >.claude/settings.json',
    );
    expect(done.err).toContain('conf/claude/x: Read-only file system');
    expect(done.err).toContain("cannot move 'conf' to 'conf2': Device or resource busy");
    expect(done.quarantined).toEqual(['.claude']);
    expect(readlinkSync(join(bench.workspace, '.claude'))).toBe('conf/claude');
  });

  test('SEC-2.3 of two runs at once, neither counts as old what the other made', async () => {
    const first = bench.bash('echo x >.envrc; echo ready >ready; until test -e go; do sleep 0.02; done; true');
    await expect.poll(() => existsSync(join(bench.workspace, 'ready')), { timeout: 20_000 }).toBe(true);
    const second = bench.bash(
      'echo on >second; until test -e go2; do sleep 0.02; done; rm -f .envrc; echo y >.envrc; true',
    );
    await expect.poll(() => existsSync(join(bench.workspace, 'second')), { timeout: 20_000 }).toBe(true);
    bench.host('touch go');
    expect((await first).quarantined).toEqual(['.envrc']);
    bench.host('touch go2');
    expect((await second).quarantined).toEqual(['.envrc']);
    // The report names the first run's file too, so it is there even if the search for the second one goes on.
    await expect.poll(() => existsSync(join(bench.workspace, '.envrc')), { timeout: 20_000 }).toBe(false);
  });

  test('SEC-2.3 submodules’ configuration and hooks are read-only, nested and with slashes in the name', async () => {
    bench.host(
      'git init -q . && for m in lib vendor/deep lib/modules/inner; do git init -q --bare .git/modules/$m; done',
    );
    const modules = ['lib', 'vendor/deep', 'lib/modules/inner'];
    const { err } = await bench.bash(
      `for m in ${modules.join(' ')}; do echo x >>.git/modules/$m/config; : >.git/modules/$m/hooks/x; done; mv .git/modules/vendor .git/modules/v2; : >.git/modules/lib/note`,
    );
    expect(err.match(/Read-only file system/g)).toHaveLength(6);
    expect(err).toContain("cannot move '.git/modules/vendor'");
    expect(existsSync(join(bench.workspace, '.git/modules/lib/note'))).toBe(true);
  });

  test('SEC-2.3 a workspace that is a linked worktree works, and its common git directory is protected', async () => {
    const main = join(bench.base, 'main');
    mkdirSync(main);
    if (who === 'workspace of uid 65534') chownSync(main, 65534, 65534);
    bench.host(
      `cd ${main} && git init -q -b main . && echo 1 >f && git add f && git commit -qm one && git worktree add -q -b side ${bench.workspace}`,
    );
    const done = await bench.bash('echo 2 >>f && git status --short && git commit -qam two && git log --format=%s', {
      env: GIT_ENV,
    });
    expect(done).toMatchObject({ exitCode: 0, out: ' M f\ntwo\none\n', quarantined: [] });
    expect(bench.host(`git -C ${main} log --format=%s side`)).toBe('two\none\n');
    const { err, out } = await bench.bash(
      `echo x >>${main}/.git/config; : >${main}/.git/hooks/x; echo x >.git; mv .git g; echo x >${main}/.git/worktrees/${basename(bench.workspace)}/commondir; cat ${main}/f`,
    );
    expect(out).toBe('');
    expect(err.match(/Read-only file system/g)).toHaveLength(4);
    expect(err).toContain("cannot move '.git' to 'g': Device or resource busy");
    expect(err).toContain(`${main}/f: No such file or directory`);
  });

  test('SEC-2.3 a .git file that a tool wrote does not open any directory of the host', async () => {
    const home = join(bench.base, 'other');
    mkdirSync(join(home, 'worktrees', 'w', 'refs'), { recursive: true });
    await bench.bash(`echo "gitdir: ${home}/worktrees/w" >.git`);
    const { out, err } = await bench.bash(`ls ${home}`);
    expect(out).toBe('');
    expect(err).toContain('No such file or directory');
  });

  test('git worktree add works in the sandbox', async () => {
    bench.host('git init -q -b main . && echo 1 >f && git add f && git commit -qm one');
    const done = await bench.bash('git worktree add -q -b side wt && git -C wt log --format=%s', { env: GIT_ENV });
    expect(done).toMatchObject({ exitCode: 0, out: 'one\n', quarantined: [] });
  });
});

test.runIf(process.getuid?.() !== 0)('a git directory that is closed to the search is refused', async () => {
  const bench = await openBench('ordinary user');
  try {
    bench.host('git init -q . && chmod 000 .git');
    await expect(bench.bash('true')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    bench.host('chmod 700 .git');
  } finally {
    await bench.close();
  }
});
