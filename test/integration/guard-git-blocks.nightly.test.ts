import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Bench, GIT_ENV, letTimePass, openBench, pathsOf } from '../helpers/workspace-bench.ts';

let bench: Bench;
beforeEach(() => {
  bench = openBench();
  bench.sh('git init -q -b main . && mkdir d && echo 1 >d/f && git add . && git commit -qm one');
});
afterEach(() => bench.close());

/** What a person types; none of these may wait. */
const COMMANDS = [
  'status',
  'log -1 -p',
  'diff',
  'branch -a',
  'add -A',
  'commit --allow-empty -qm x',
  'checkout -q -B y',
  'blame d/f',
  'fetch --all',
  'rebase HEAD',
  'gc -q',
  'reset -q --hard',
];
/** Milliseconds after which a command of a few counts as waiting for ever. */
const HANGS_MS = 10_000;

/** The person's commands that end with an error that is not about the repository's content, or that never end. */
function blocked(): string[] {
  const env = { PATH: '/usr/bin:/bin', ...GIT_ENV, GIT_EDITOR: 'true', GIT_TERMINAL_PROMPT: '0' };
  return COMMANDS.filter((command) => {
    const options = {
      cwd: bench.workspace,
      env,
      encoding: 'utf8',
      timeout: HANGS_MS,
      stdio: 'pipe',
      input: '',
    } as const;
    const done = spawnSync('git', command.split(' '), options);
    return done.error !== undefined || /lock|File exists|already running/.test(done.stderr);
  });
}

/** Names that were seen to keep everyday commands waiting, in each part of a repository and of a worktree. */
const WAITING = [
  '.git/config',
  '.git/HEAD',
  '.git/index',
  '.git/packed-refs',
  '.git/info/exclude',
  '.git/info/attributes',
  '.git/info/sparse-checkout',
  '.git/info/grafts',
  '.git/shallow',
  '.git/FETCH_HEAD',
  '.git/MERGE_HEAD',
  '.git/COMMIT_EDITMSG',
  '.git/CHERRY_PICK_HEAD',
  '.git/refs/heads/x',
  '.git/refs/stash',
  '.git/logs/HEAD',
  '.git/objects/info/alternates',
  '.git/objects/info/commit-graph',
  '.git/rebase-merge/head-name',
  '.git/gc.pid',
  '.git/commondir',
  '.git/worktrees/x/gitdir',
  '.git/deep/er/name',
  '.gitignore',
  'd/.gitignore',
  '.gitattributes',
  'd/.gitattributes',
  '.gitmodules',
  'd/.gitmodules',
  '.mailmap',
  '.gitnew',
];

describe('SEC-2.3 a pipe at a name that git opens does not keep the person’s git waiting', () => {
  test.each(WAITING)('%s is removed, because it holds nothing', async (path) => {
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const watch = guard.begin(await guard.protection());
    bench.sh(`cp -a ${path} ../kept 2>/dev/null || :; rm -rf ${path}; mkdir -p "$(dirname ${path})"; mkfifo ${path}`);
    const { quarantined } = await guard.finish(watch);
    expect(quarantined).toMatchObject([{ path, removed: true, reason: 'git on the host would wait for it' }]);
    expect(existsSync(join(bench.workspace, path))).toBe(false);
    bench.sh(`[ ! -e ../kept ] || cp -a ../kept ${path}`);
    expect(blocked()).toEqual([]);
  });

  test('sockets in a git directory too, and pipes of a repository that a later call completes', async () => {
    const guard = bench.guard();
    const listen = 'import socket; socket.socket(socket.AF_UNIX).bind(".git/refs/heads/s")';
    expect(
      (await bench.run(guard, `python3 -c '${listen}'; mkdir -p v/refs/heads; mkfifo v/refs/heads/p`)).quarantined,
    ).toEqual(['.git/refs/heads/s']);
    letTimePass();
    const script = 'mkdir v/objects; echo "ref: refs/heads/m" >v/HEAD';
    expect((await bench.run(guard, script)).quarantined).toEqual(['v/refs/heads/p']);
  });

  test('a repository that a .git file leads to is not used as long as a pipe is in it', async () => {
    const guard = bench.guard();
    await bench.run(guard, 'mkdir -p v/objects v/refs v/logs; mkfifo v/logs/HEAD');
    letTimePass();
    expect((await bench.run(guard, 'mkdir s; echo "gitdir: ../v" >s/.git')).quarantined).toEqual(['s/.git']);
  });

  test('pipes and sockets at other names, and a pipe of the person’s, are left alone', async () => {
    bench.sh('mkfifo .gitpipe');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const listen = 'import socket; socket.socket(socket.AF_UNIX).bind(".overmind.sock")';
    expect((await bench.run(guard, `mkfifo pipe d/.pipe; python3 -c '${listen}'`)).quarantined).toEqual([]);
    expect(bench.names()).toEqual(['.git', '.gitpipe', '.overmind.sock', 'd', 'pipe']);
  });
});

const LOCKS = [
  '.git/index.lock',
  '.git/HEAD.lock',
  '.git/config.lock',
  '.git/packed-refs.lock',
  '.git/shallow.lock',
  '.git/refs/heads/main.lock',
  '.git/refs/heads/deep/er.lock',
  '.git/objects/info/commit-graph.lock',
  '.git/objects/maintenance.lock',
  '.git/worktrees/w/index.lock',
  '.git/gc.pid',
  '.git/FETCH_HEAD.lock',
];

describe('SEC-2.3 a lock that a killed git leaves does not block the person’s git', () => {
  test.each(LOCKS)('%s is removed when its call has ended, empty or not', async (path) => {
    bench.sh('git worktree add -q w');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const watch = guard.begin(await guard.protection());
    bench.sh(`mkdir -p "$(dirname ${path})"; echo "1 $(hostname)" >${path}; : >${path}x.lock`);
    const { quarantined } = await guard.finish(watch);
    expect(quarantined).toMatchObject([
      { path, removed: true },
      { path: `${path}x.lock`, removed: true },
    ]);
    expect(quarantined[0]?.reason).toContain('a command left this lock');
    expect(blocked()).toEqual([]);
  });

  test('a directory or a link in its place too', async () => {
    const guard = bench.guard();
    const report = await bench.run(
      guard,
      'mkdir -p .git/index.lock/x .git/refs/heads/main.lock; ln -s config .git/HEAD.lock',
    );
    expect(report.quarantined).toEqual(['.git/HEAD.lock', '.git/index.lock', '.git/refs/heads/main.lock']);
    expect(blocked()).toEqual([]);
  });

  test('it stays as long as another call runs that may hold it', async () => {
    const guard = bench.guard();
    const protection = await guard.protection();
    const [first, second] = [guard.begin(protection), guard.begin(protection)];
    bench.sh(': >.git/index.lock');
    expect(pathsOf(await guard.finish(first)).quarantined).toEqual([]);
    expect(existsSync(join(bench.workspace, '.git/index.lock'))).toBe(true);
    expect(pathsOf(await guard.finish(second)).quarantined).toEqual(['.git/index.lock']);
  });

  test('one that was there before stays, and so do files of the worktree with such names', async () => {
    bench.sh(': >.git/index.lock');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    expect((await bench.run(guard, ': >yarn.lock; : >d/flake.lock; : >gc.pid')).quarantined).toEqual([]);
    expect(existsSync(join(bench.workspace, '.git/index.lock'))).toBe(true);
  });

  test('one that a git of the person holds during a call stays, also while its editor is open', async () => {
    const guard = bench.guard();
    await guard.protection();
    const watch = guard.begin(await guard.protection());
    bench.sh('mkfifo ../answer ../ready');
    const held = commitWithEditor('echo go >../ready; read line <../answer');
    bench.sh('read line <../ready');
    expect(existsSync(join(bench.workspace, '.git/index.lock'))).toBe(true);
    expect(pathsOf(await guard.finish(watch)).quarantined).toEqual([]);
    const done = once(held, 'exit');
    bench.sh('echo message >../answer');
    expect(await done).toEqual([0, null]);
    expect(bench.sh('git log --format=%s -1')).toBe('text\n');
  });

  test('one that a killed call left while a git of the person worked is removed after the next call', async () => {
    const guard = bench.guard();
    await guard.protection();
    const watch = guard.begin(await guard.protection());
    bench.sh('mkfifo ../answer ../ready');
    const held = commitWithEditor('echo go >../ready; read line <../answer');
    bench.sh('read line <../ready; : >.git/refs/heads/x.lock');
    expect(pathsOf(await guard.finish(watch)).quarantined).toEqual([]);
    const done = once(held, 'exit');
    bench.sh('echo message >../answer');
    await done;
    letTimePass();
    expect((await bench.run(guard, 'true')).quarantined).toEqual(['.git/refs/heads/x.lock']);
  });

  test('one that another program of the host has open stays', async () => {
    const guard = bench.guard();
    await guard.protection();
    const watch = guard.begin(await guard.protection());
    const holder = spawn(
      'python3',
      ['-c', 'import sys; f = open(sys.argv[1], "x"); print("ready", flush=True); input()', '.git/index.lock'],
      {
        cwd: bench.workspace,
      },
    );
    await once(holder.stdout, 'data');
    expect(pathsOf(await guard.finish(watch)).quarantined).toEqual([]);
    const done = once(holder, 'exit');
    holder.stdin.end('\n');
    await done;
  });

  /** `git commit -a` holds the lock of the index while it waits for the editor, but does not keep it open. */
  function commitWithEditor(editor: string): ChildProcess {
    mkdirSync(join(bench.base, 'bin'));
    writeFileSync(join(bench.base, 'bin/editor'), `#!/bin/sh\n${editor}\necho text >"$1"\n`, { mode: 0o755 });
    writeFileSync(join(bench.workspace, 'd/f'), '2\n');
    const env = { PATH: '/usr/bin:/bin', ...GIT_ENV, GIT_EDITOR: join(bench.base, 'bin/editor') };
    return spawn('git', ['commit', '-qa'], { cwd: bench.workspace, env, stdio: 'ignore' });
  }
});
