import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, openBench, type Who, whoCanRun } from '../fixtures/sandbox-harness.ts';

const WORKING = { git: 'working' } as const;
/** Fails if the index does not hold what git sees of the files: neither command rereads a file first. */
const AGREES = 'git diff-index --quiet HEAD && git apply --index patch && git apply --index -R patch';
const PATCH = 'diff --git a/kept b/kept\n--- a/kept\n+++ b/kept\n@@ -1 +1 @@\n-kept\n+patched\n';
const OTHER_GROUP = 54_321;

describe.each(whoCanRun())('git inside and outside agree about files, as %s', (who) => {
  let bench: Bench;
  const inside = (script: string) => bench.bash(`set -e; ${script}`, {}, WORKING);

  beforeAll(async () => {
    bench = await openBench(who);
    writeFileSync(join(bench.workspace, 'patch'), PATCH);
    bench.host('git init -qb main . && git config user.name A && git config user.email a@example.com');
    bench.host('echo kept > kept && echo one > a && echo patch > .gitignore');
    bench.host('git add . && git commit -qm first');
  });
  afterAll(() => bench.close());

  test('a tree that is clean outside is clean inside, and patches apply to it', async () => {
    expect(await inside(AGREES)).toMatchObject({ exitCode: 0, err: '' });
  });

  test('a tree that a command left clean is clean outside', async () => {
    const done = await inside('echo two > a; echo new > b; mkdir d; echo c > d/c; git add .; git commit -qm second');
    expect(done).toMatchObject({ exitCode: 0, quarantined: [] });
    expect(bench.host(AGREES)).toBe('');
    expect(await inside('git stash list; git checkout -q HEAD~1; git checkout -q main')).toMatchObject({ exitCode: 0 });
    expect(bench.host(`${AGREES} && git fsck --no-progress --no-dangling`)).toBe('');
    expect(await inside(AGREES)).toMatchObject({ exitCode: 0, err: '' });
  });

  test('the same holds in a worktree, and in an index of each version', async () => {
    await inside('git worktree add -q -b wt wt; cd wt; echo w > w; git add w; git commit -qm w');
    expect(bench.host('git -C wt diff-index --quiet HEAD && git worktree remove wt && git branch -qD wt')).toBe('');
    for (const version of [2, 3, 4]) {
      await inside(`git update-index --index-version ${version}; echo ${version} > a; git commit -qam v${version}`);
      expect(bench.host(AGREES)).toBe('');
    }
  });

  test('a change that keeps size and time of a file is not hidden by the correction', async () => {
    await inside('echo 111 > a; git commit -qam 111; touch -r a /tmp/t; echo 222 > a; touch -r /tmp/t a');
    expect(bench.host('git status --porcelain')).toBe(' M a\n');
    bench.host('git checkout -q a');
  });

  test('an index with a wrong sum is left as it is', async () => {
    const index = join(bench.workspace, '.git/index');
    await inside(
      'echo s > a; git add a; cp .git/index i; printf x | dd of=i bs=1 seek=40 conv=notrunc 2>/dev/null; cp i .git/index',
    );
    expect(readFileSync(index).equals(readFileSync(join(bench.workspace, 'i')))).toBe(true);
    bench.host('rm i .git/index && git reset -q --hard');
  });

  test('the ids of a command have a name', async () => {
    const { out } = await inside('id -un; id -gn; getent passwd "$(id -u)" | cut -d: -f1; stat -c %U:%G kept');
    expect(out).toBe('sandbox\nsandbox\nsandbox\nsandbox:sandbox\n');
  });

  test.skipIf(who === 'ordinary user')('files of a group that the command is not in agree too', async () => {
    const owner = who === 'root-owned workspace' ? 0 : 65_534;
    const files = bench.host('find . -print0').split('\0').filter(Boolean);
    for (const file of files) chownSync(join(bench.workspace, file), owner, OTHER_GROUP);
    chmodSync(bench.workspace, 0o2775);
    bench.host('git update-index -q --refresh && git diff-index --quiet HEAD');
    expect(await inside(AGREES)).toMatchObject({ exitCode: 0, err: '' });
    expect(await inside('echo g >> a; echo n > n; git add n; git commit -qam group')).toMatchObject({ exitCode: 0 });
    expect(bench.host(AGREES)).toBe('');
  });
});

const ROOT: Who = 'root-owned workspace';

describe.skipIf(!whoCanRun().includes(ROOT))('programs that refuse to run as uid 0 work in a project of root', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(ROOT);
  });
  afterAll(() => bench.close());

  test('the user is not root, and tar unpacks an archive of another owner', async () => {
    const tar = 'echo x > x && tar --owner=4321 --group=4321 -cf x.tar x && rm x && tar xf x.tar && id -u && cat x';
    expect(await bench.bash(tar)).toMatchObject({ exitCode: 0, out: '1000\nx\n', err: '' });
    expect(bench.host('stat -c %u:%g x')).toBe('0:0\n');
  });

  test('npm packs and installs a package', async () => {
    const script = [
      'mkdir dep app; cd dep; echo \'{"name":"dep","version":"1.0.0","scripts":{"install":"id -u > made"}}\' > package.json',
      'npm pack --silent; cd ../app; npm init -y > /dev/null; npm install --silent --offline ../dep/dep-1.0.0.tgz',
      'cat node_modules/dep/made',
    ];
    expect(await bench.bash(`set -e; ${script.join('; ')}`)).toMatchObject({
      exitCode: 0,
      out: expect.stringMatching(/1000\n$/),
    });
  });
});
