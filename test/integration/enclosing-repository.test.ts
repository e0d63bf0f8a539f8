import { existsSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, type Outcome, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

describe.each(usualWho())('a project that is a part of a repository, %s', (who) => {
  let bench: Bench;
  let top: string;
  let part: string;
  beforeAll(async () => {
    bench = await openBench(who);
    top = bench.workspace;
    part = join(top, 'packages', 'p1');
    bench.host(`mkdir -p packages/p1 packages/p2 keys && git init -q -b main . && echo one >packages/p1/a &&
      echo two >packages/p2/b && echo secret >keys/.env && echo hi >top.txt && git add -A && git commit -q -m first`);
  });
  afterAll(() => bench.close());

  const inPart = (script: string, policy: { deny?: string[]; repository?: string } = { repository: top }) =>
    bench.bash(
      script,
      { cwd: part },
      { workspace: { path: part, layer: null }, allowedPaths: [], git: 'working', ...policy },
    );
  const AS = '-c user.name=a -c user.email=a@example.invalid';

  test('commits, stashes and shows the log, and changes nothing outside the part', async () => {
    const done = await inPart(`echo more >>a && git status --short . && git stash -q && git stash pop -q &&
      git add -A . && git ${AS} commit -q -m "Change p1" && git log --format=%s && git status --short && cat ../p2/b`);
    expect(done).toMatchObject({ exitCode: 0, out: ' M a\nChange p1\nfirst\ntwo\n', quarantined: [] });
    expect(bench.host('git log -1 --format=%s && git status --short')).toBe('Change p1\n');
    for (const script of ['echo x >../p2/b', 'touch ../../new', 'mv ../p2 ../p3', 'rm ../../top.txt']) {
      const refused = await inPart(script);
      expect([script, refused.exitCode, refused.err]).toEqual([
        script,
        1,
        expect.stringContaining('Read-only file system'),
      ]);
    }
    const { denied } = await inPart('echo x >../p2/b');
    expect(denied).toMatchObject([
      {
        kind: 'read_only',
        path: join(top, 'packages/p2/b'),
        how_to_allow: expect.stringContaining(`\`ctxd init --uninstall ${part}\`, then \`ctxd init ${top}\``),
      },
    ]);
  });

  test('carries a new remote over, and protects the configuration and the hooks of the repository', async () => {
    const added = await inPart('git remote add origin https://example.com/a.git && git config core.pager evil');
    expect(added.exitCode).toBe(0);
    expect(added.denied).toMatchObject([{ kind: 'git_config', how_to_allow: expect.stringContaining('core.pager') }]);
    expect(bench.host('git remote get-url origin')).toBe('https://example.com/a.git\n');
    const hook = await inPart('echo evil >../../.git/hooks/pre-commit');
    expect(hook).toMatchObject({ exitCode: 1, err: expect.stringContaining('Read-only file system') });
    expect((await inPart('mv ../../.git ../../x')).exitCode).toBe(1);
    const made = await inPart('printf "[core]\\n\\tpager = evil\\n" >../../.git/config.worktree');
    expect([made.exitCode === 0, made.quarantined.length]).toEqual([true, 1]);
    expect(existsSync(join(top, '.git/config.worktree'))).toBe(false);
  });

  test('applies the deny globs to the whole repository, also to a file that was made just now', async () => {
    const policy = { repository: top, deny: ['.env'] };
    bench.host('echo mine >packages/p1/.env');
    const seen = await inPart('cat ../../keys/.env .env; true', policy);
    expect(seen.out).toBe('');
    bench.host('mkdir keys/new && echo secret >keys/new/.env');
    expect((await inPart('cat ../../keys/new/.env; cat ../p2/b', policy)).out).toBe('two\n');
    bench.host('rm -r packages/p1/.env keys/new');
  });

  test('is without its repository if nobody allowed it, and the answer names the command', async () => {
    const expectAlone = ({ exitCode, denied }: Outcome) => {
      expect(exitCode).not.toBe(0);
      expect(denied).toMatchObject([
        { kind: 'absent', how_to_allow: expect.stringContaining(`ctxd allow path ${top}`) },
      ]);
    };
    expectAlone(await inPart('git status', {}));
    expect((await inPart('git status')).exitCode).toBe(0);
    // The guard still knows the git directory.
    expectAlone(await inPart('git status', {}));
    expect((await inPart('ls ..', {})).out).toBe('p1\n');
  });

  test('is without a repository that is not directly around it, or whose git directory is a link', async () => {
    const outer = bench.base;
    expect((await inPart(`ls ${outer}/home`, { repository: outer })).exitCode).toBe(2);
    renameSync(join(top, '.git'), join(bench.base, 'moved.git'));
    symlinkSync(join(bench.base, 'moved.git'), join(top, '.git'));
    expect((await inPart('cat ../p2/b')).exitCode).toBe(1);
    bench.host('rm .git');
    renameSync(join(bench.base, 'moved.git'), join(top, '.git'));
  });
});
