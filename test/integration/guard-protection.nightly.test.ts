import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Protection } from '#src/guard/contract/protection.js';
import { shapeRuns } from '../helpers/property-runs.ts';
import { type Bench, openBench } from '../helpers/workspace-bench.ts';

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

function show(protection: Protection): string[] {
  return protection.mounts.map((mount) => {
    const source = mount.kind === 'ro-bind' && mount.source === '/dev/null' ? ' from /dev/null' : '';
    return `${mount.kind} ${'dest' in mount ? mount.dest.slice(bench.workspace.length + 1) : ''}${source}`;
  });
}

describe('what is mounted', () => {
  test('SEC-2.3 the root’s names and its repository, parents first', async () => {
    bench.sh('git init -q . && rm -rf .git/info && mkdir -p .git/info .claude && touch .git/info/attributes .envrc');
    bench.sh('git init -q --bare .git/modules/a/b');
    expect(show(await bench.guard().protection())).toEqual([
      'bind .git',
      'ro-bind .claude',
      'ro-bind .envrc',
      'bind .git/info',
      'bind .git/modules',
      'ro-bind .git/hooks',
      'ro-bind .git/config',
      'bind .git/modules/a',
      'ro-bind .git/info/attributes',
      'bind .git/modules/a/b',
      'ro-bind .git/modules/a/b/hooks',
      'ro-bind .git/modules/a/b/config',
    ]);
  });

  test('SEC-2.3 nested repositories, bare ones, worktrees and .git files like the root’s', async () => {
    bench.sh('git init -q a/b && git init -q --bare c && git -C a/b commit -q --allow-empty -m x');
    bench.sh('git -C a/b worktree add -q ../../wt');
    expect(show(await bench.guard().protection())).toEqual(
      [
        'bind c',
        'bind a',
        'bind wt',
        'bind a/b',
        'ro-bind c/hooks',
        'ro-bind c/config',
        'ro-bind wt/.git',
        'bind a/b/.git',
        'bind a/b/.git/worktrees',
        'ro-bind a/b/.git/hooks',
        'ro-bind a/b/.git/config',
        'bind a/b/.git/worktrees/wt',
        'ro-bind a/b/.git/worktrees/wt/commondir',
      ].sort((x, y) => x.split('/').length - y.split('/').length),
    );
  });

  test('SEC-2.3 a worktree’s common git directory, which lies elsewhere', async () => {
    bench.sh(
      'git init -q ../main && git -C ../main commit -q --allow-empty -m x && git -C ../main worktree add -q ../w/x',
    );
    bench.sh('mv x/.git . && git -C ../main worktree repair ../w && git status');
    const protection = await bench.guard().protection();
    const common = join(bench.base, 'main/.git');
    expect(protection.commonGitDir).toBe(common);
    expect(protection.mounts).toContainEqual({
      kind: 'ro-bind',
      source: `${common}/hooks`,
      dest: `${common}/hooks`,
      pin: true,
    });
    expect(protection.mounts).toContainEqual({
      kind: 'ro-bind',
      source: `${common}/worktrees/x/commondir`,
      dest: `${common}/worktrees/x/commondir`,
      pin: true,
    });
    expect(protection.entries.find((entry) => entry.path === `${common}/hooks`)?.root).toBe(common);
  });

  test('a link is listed with its text, and mounted only if it leads inside the tree and not around itself', async () => {
    bench.sh(
      'mkdir conf sub && ln -s conf .claude && ln -s /etc/passwd .bashrc && ln -s nowhere .envrc && ln -s .. sub/.vscode',
    );
    const protection = await bench.guard().protection();
    expect(protection.entries.map(({ path, link }) => [path.slice(bench.workspace.length + 1), link])).toEqual([
      ['.bashrc', '/etc/passwd'],
      ['.claude', 'conf'],
      ['.envrc', 'nowhere'],
      ['sub/.vscode', '..'],
    ]);
    expect(show(protection)).toEqual(['ro-bind conf']);
  });

  test('up to 64 nested names are mounted, shallow ones first, without those of installed packages and without pins above', async () => {
    bench.sh(
      'mkdir -p a/b/c/d/.claude node_modules/p/.claude && touch x && for i in {1..70}; do mkdir -p n$i; touch n$i/.envrc; done',
    );
    const shown = show(await bench.guard().protection());
    expect(shown).toHaveLength(64);
    expect(shown.every((line) => /^ro-bind n\d+\/\.envrc$/.test(line))).toBe(true);
  });

  test('nothing writable is mounted behind something read-only', async () => {
    bench.sh('git init -q .claude/plugin && mkdir -p a && ln -s ../.claude/plugin a/.vscode');
    expect(show(await bench.guard().protection())).toEqual(['ro-bind .claude']);
  });

  test('SEC-2.3 of too many repositories the oldest are mounted, and no number of them is refused', async () => {
    bench.sh('git init -q z/deep/old');
    bench.sh('mkdir -p r{1..400}/.git/hooks; touch r{1..400}/.git/config');
    const shown = show(await bench.guard().protection());
    expect(shown).toEqual(expect.arrayContaining(['ro-bind z/deep/old/.git/config', 'ro-bind z/deep/old/.git/hooks']));
    expect(shown.length).toBeGreaterThan(200);
    expect(shown.length).toBeLessThanOrEqual(300);
  });

  test.runIf(process.getuid?.() !== 0)('SEC-2.3 a repository that is closed to the search is read-only', async () => {
    bench.sh('git init -q . && chmod 000 .git');
    expect(show(await bench.guard().protection())).toEqual(['ro-bind .git']);
  });

  test('what a person makes at the root or directly below it is mounted at the next call', async () => {
    const guard = bench.guard();
    await guard.protection();
    bench.sh('git init -q new && touch .envrc && mkdir d && touch d/.envrc');
    expect(show(await guard.protection())).toEqual(
      expect.arrayContaining(['ro-bind .envrc', 'ro-bind d/.envrc', 'bind new/.git', 'ro-bind new/.git/hooks']),
    );
  });

  test('a workspace that is gone is PATH_NOT_FOUND until it is back', async () => {
    const guard = bench.guard();
    bench.sh('mv ../w ../away');
    await expect(guard.protection()).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
    mkdirSync(bench.workspace);
    expect((await guard.protection()).mounts).toEqual([]);
  });
});

describe('what is hidden', () => {
  test('files and directories that match are hidden, links are not, and parents are pinned if the place matters', async () => {
    bench.sh('mkdir -p secrets/deep conf/a b && touch k.pem b/k.pem secrets/x.pem conf/a/token && ln -s conf l.pem');
    const protection = await bench.guard(['*.pem', 'secrets/', 'conf/**/token']).protection();
    expect(show(protection).slice(0, 2)).toEqual(['bind conf', 'bind conf/a']);
    expect(show(protection).slice(2).sort()).toEqual([
      'remount-ro secrets',
      'ro-bind b/k.pem from /dev/null',
      'ro-bind conf/a/token from /dev/null',
      'ro-bind k.pem from /dev/null',
      'tmpfs secrets',
    ]);
    expect(protection.hidden.map(({ kind }) => kind).sort()).toEqual(['dir', 'file', 'file', 'file']);
  });

  test('a hidden repository is hidden, not protected', async () => {
    bench.sh('git init -q a');
    expect(show(await bench.guard(['.git']).protection())).toEqual(['tmpfs a/.git', 'remount-ro a/.git']);
  });

  test('a match that a run makes or moves is hidden in the next sandbox', async () => {
    bench.sh('mkdir -p d && touch d/k.pem');
    const guard = bench.guard(['*.pem']);
    await bench.run(guard, 'mv d e; mkdir -p x/y/z; touch x/y/z/n.pem');
    expect((await guard.protection()).hidden.map(({ path }) => path).sort()).toEqual([
      join(bench.workspace, 'e/k.pem'),
      join(bench.workspace, 'x/y/z/n.pem'),
    ]);
  });

  test('SEC-2.3 what a person makes while the same directories are being read is hidden in the next sandbox', async () => {
    let pauses = 0;
    for (let at = 0; at <= pauses; at++) {
      const guard = bench.guard(['**/*.pem']);
      await guard.protection();
      const asked: Promise<Protection>[] = [];
      pauses = 0;
      guard.onPause = () => {
        if (pauses++ !== at) return;
        bench.sh('echo x >late.pem; mkdir there; echo x >there/late.pem');
        asked.push(guard.protection());
      };
      await bench.run(guard, 'mkdir made; touch made/{1..5} {1..5}');
      expect(await Promise.all(asked.map(async (one) => (await one).hidden.map(({ path }) => path).sort()))).toEqual(
        asked.map(() => [join(bench.workspace, 'late.pem'), join(bench.workspace, 'there/late.pem')]),
      );
      await guard.settled();
      guard.close();
      bench.sh('rm -r *');
    }
    expect(pauses).toBeGreaterThan(5);
  });

  test('a match that a person moved is searched for before the next sandbox starts', async () => {
    bench.sh('mkdir -p a/b/c q/r/s && touch a/b/c/k.pem');
    const guard = bench.guard(['*.pem']);
    await guard.protection();
    bench.sh('mv a/b/c/k.pem q/r/s');
    expect((await guard.protection()).hidden).toEqual([{ path: join(bench.workspace, 'q/r/s/k.pem'), kind: 'file' }]);
  });

  test('a match whose name is not UTF-8 hides its directory, and at the root it stays visible', async () => {
    bench.sh(`mkdir d && touch "d/$(printf 'a\\377.pem')"`);
    const guard = bench.guard(['*.pem']);
    expect((await guard.protection()).hidden).toEqual([{ path: join(bench.workspace, 'd'), kind: 'dir' }]);
    bench.sh(`mv d/*.pem . && touch own.pem`);
    expect((await guard.protection()).hidden).toEqual([{ path: join(bench.workspace, 'own.pem'), kind: 'file' }]);
  });

  test('SEC-2.3 of too many matches the oldest are hidden, and then the directories of the others', async () => {
    bench.sh('mkdir own d && touch own/key.pem');
    bench.sh('touch d/{1..1001}.pem');
    const { hidden } = await bench.guard(['*.pem']).protection();
    expect(hidden).toContainEqual({ path: join(bench.workspace, 'own/key.pem'), kind: 'file' });
    expect(hidden).toContainEqual({ path: join(bench.workspace, 'd'), kind: 'dir' });
  });
});

describe('the fingerprint', () => {
  test('changes with kind, inode and link text of anything mounted, and only then', async () => {
    const places = [
      '.claude',
      '.envrc',
      '.git/config',
      '.git/hooks',
      'sub/.git',
      'sub/.git/config',
      'n/.vscode',
      's/k.pem',
    ];
    const mounted = places.join(' ');
    /** A repository that was moved aside is one too. */
    const movedAside = places.map((place) => `${place}.old`).join(' ');
    const changes = ['file', 'dir', 'link', 'otherLink', 'gone'] as const;
    const step = fc.tuple(fc.constantFrom(...places), fc.constantFrom(...changes));
    bench.sh('git init -q . && git init -q sub && mkdir n s');
    const guard = bench.guard(['*.pem']);
    const work: Record<(typeof changes)[number], string> = {
      file: 'rm -rf $p.old; mv $p $p.old 2>/dev/null; : >$p',
      dir: 'rm -rf $p.old; mv $p $p.old 2>/dev/null; mkdir $p',
      link: 'rm -rf $p; ln -s n $p',
      otherLink: 'rm -rf $p; ln -s s $p',
      gone: 'rm -rf $p',
    };
    await fc.assert(
      fc.asyncProperty(step, async ([place, change]) => {
        const state = (names: string) =>
          bench.sh(
            `for p in ${names}; do stat -c '%n %f %d %i %w %N' $p 2>&1 || true; done; readlink -f ${names} || true`,
          );
        await guard.settled();
        const [before, besideBefore, seen] = [state(mounted), state(movedAside), await guard.protection()];
        expect((await guard.protection()).fingerprint).toBe(seen.fingerprint);
        bench.try(`p=${place}; mkdir -p $(dirname $p); ${work[change]}`);
        writeFileSync(join(bench.workspace, 'unrelated'), String(Math.random()));
        await bench.run(guard, 'true').catch(() => {});
        await guard.settled();
        const after = await guard.protection();
        const areMounted = JSON.stringify(seen.mounts) + JSON.stringify(after.mounts) !== '[][]';
        const isSame = state(mounted) === before;
        if (!isSame && areMounted && place !== 's/k.pem') expect(after.fingerprint).not.toBe(seen.fingerprint);
        if (isSame && state(movedAside) === besideBefore) expect(after.fingerprint).toBe(seen.fingerprint);
      }),
      { numRuns: shapeRuns(20) },
    );
  });
});
