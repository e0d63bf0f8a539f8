import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { narrowCover } from '#src/guard/contract/protection.js';
import {
  type Bench,
  hastyClock,
  letTimePass,
  openBench,
  pathsOf,
  patientClock,
  recordingLogger,
} from '../helpers/workspace-bench.ts';

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

describe('what a run made', () => {
  test('SEC-2.3 protected names at any depth are moved aside, whole, and reported', async () => {
    bench.sh('mkdir -p known/dir');
    const { logger, events } = recordingLogger();
    const guard = bench.guard([], patientClock, logger);
    const report = await bench.run(
      guard,
      'mkdir -p known/dir/.claude/x a/b/.vscode .idea; echo x >known/dir/.claude/x/f; touch a/b/.envrc a/.mcp.json .zshrc; mkfifo a/.profile; echo y >a/b/fine',
    );
    expect(report).toEqual({
      quarantined: ['.idea', '.zshrc', 'a/.mcp.json', 'a/.profile', 'a/b/.envrc', 'a/b/.vscode', 'known/dir/.claude'],
      complete: true,
    });
    expect([bench.names('a/b'), bench.names('known/dir')]).toEqual([['fine'], []]);
    const names = ['.claude', '.envrc', '.idea', '.mcp.json', '.vscode', '.zshrc'];
    expect(bench.stored().map((path) => basename(path))).toEqual(names);
    expect(readFileSync(join(bench.stored()[0] ?? '', 'x/f'), 'utf8')).toBe('x\n');
    const logged = (name: string) => events.filter(({ event }) => event === name);
    expect([logged('sandbox.quarantined').length, logged('sandbox.removed').length]).toEqual([6, 1]);
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
  });

  test('SEC-2.3 what a program writes again and again during a call is set aside once, when the call ends', async () => {
    const guard = bench.guard();
    const call = guard.begin(await guard.protection(), false);
    for (const text of ['one', 'two', 'three']) {
      letTimePass();
      bench.sh(`mkdir -p .idea && echo ${text} >.idea/workspace.xml && echo ${text} >.bashrc`);
      // Another call begins meanwhile.
      guard.forget(guard.begin(await guard.protection(), false));
      expect(bench.names()).toEqual(['.bashrc', '.idea']);
    }
    expect(pathsOf(await guard.finish(call)).quarantined.sort()).toEqual(['.bashrc', '.idea']);
    const { items } = await guard.quarantine({ kind: 'list', which: null });
    expect(items.find(({ path }) => path === '.bashrc')).toMatchObject({ preview: 'three' });
    expect(items).toHaveLength(2);
  });

  test('SEC-2.3 files that were there before stay, even if no mount protected them', async () => {
    bench.sh('mkdir -p node_modules/p/.claude && : >node_modules/p/.claude/f && : >node_modules/p/.mcp.json');
    bench.sh('for i in {1..70}; do mkdir n$i; echo $i >n$i/.envrc; done');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    expect((await bench.run(guard, ': >node_modules/p/index.js; touch n{1..70}/other')).quarantined).toEqual([]);
  });

  test('SEC-2.3 a copy of settings that the person made after an earlier run stays, while that run is still searched', async () => {
    const guard = bench.guard();
    const earlier = guard.begin(await guard.protection());
    guard.end(earlier);
    letTimePass();
    bench.sh('mkdir -p late/.vscode; echo 1 >late/.vscode/a');
    letTimePass();
    const copy = 'git init -q c; mkdir c/late; cp -a late/.vscode c/late';
    expect((await bench.run(guard, copy)).quarantined).toEqual([]);
    await guard.finish(earlier);
  });

  test.each([
    ['stays', 'echo 1', []],
    ['is moved aside if it is another in the end', 'echo 2', ['c/late/.vscode']],
  ])(
    'SEC-2.3 a copy that git is in the middle of making while an earlier run is searched %s',
    async (_, text, moved) => {
      bench.sh('mkdir -p late/.vscode; echo 1 >late/.vscode/a');
      const guard = bench.guard();
      const earlier = guard.begin(await guard.protection());
      guard.end(earlier);
      letTimePass();
      const later = guard.begin(await guard.protection());
      bench.sh('git init -q c; mkdir -p c/late/.vscode; : >c/late/.vscode/a');
      expect(pathsOf(await guard.finish(earlier)).quarantined).toEqual([]);
      bench.sh(`${text} >c/late/.vscode/a`);
      expect(pathsOf(await guard.finish(later)).quarantined).toEqual(moved);
    },
  );

  test('SEC-2.3 a file that no mount protected is moved aside if the run changed it, and ignored if the run removed it', async () => {
    bench.sh(
      'mkdir -p node_modules/p/.claude/d node_modules/q && : >node_modules/p/.claude/d/f && : >node_modules/p/.mcp.json && : >node_modules/q/.mcp.json',
    );
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const report = await bench.run(guard, 'echo evil >>node_modules/p/.claude/d/f; rm node_modules/q/.mcp.json');
    expect(report.quarantined).toEqual(['node_modules/p/.claude']);
    expect(bench.names('node_modules/p')).toEqual(['.mcp.json']);
    expect(bench.stored().map((path) => readFileSync(join(path, 'd/f'), 'utf8'))).toEqual(['evil\n']);
  });

  test('a file that a person made since the last search stays unless the run changed it', async () => {
    bench.sh('mkdir -p d/e/f');
    const guard = bench.guard();
    await guard.protection();
    bench.sh('touch d/e/f/.envrc d/e/f/.mcp.json; mkdir d/e/f/.claude; touch d/e/f/.claude/x');
    letTimePass();
    expect((await bench.run(guard, 'echo evil >>d/e/f/.envrc; touch d/e/f/other')).quarantined).toEqual([
      'd/e/f/.envrc',
    ]);
    expect(bench.names('d/e/f')).toEqual(['.claude', '.mcp.json', 'other']);
    expect(bench.stored().map((path) => readFileSync(path, 'utf8'))).toEqual(['evil\n']);
  });

  test('after the clock was set back, every unprotected file counts as made by the run', async () => {
    let shift = 0;
    const guard = bench.guard([], { now: () => Date.now() + shift, monotonic: () => 0 });
    await guard.protection();
    shift = 3_600_000;
    const watch = guard.begin(await guard.protection());
    bench.sh('mkdir -p a/b; touch a/b/.envrc');
    shift = 0;
    expect(pathsOf(await guard.finish(watch)).quarantined).toEqual(['a/b/.envrc']);
  });

  test('a file that was moved and not changed stays; a file that took its place does not', async () => {
    bench.sh('mkdir -p pkg/a && echo mine >pkg/a/.envrc');
    const guard = bench.guard();
    const report = await bench.run(guard, 'mv pkg/a pkg/b; mkdir pkg/a; echo evil >pkg/a/.envrc');
    expect(report.quarantined).toEqual(['pkg/a/.envrc']);
    expect(readFileSync(join(bench.workspace, 'pkg/b/.envrc'), 'utf8')).toBe('mine\n');
  });

  test('a directory that is moved into place does not smuggle in what an earlier run made', async () => {
    const guard = bench.guard();
    expect((await bench.run(guard, 'mkdir -p s/hooks s/x; echo evil >s/hooks/post-checkout')).quarantined).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, 'mkdir r; mv s r/.git')).quarantined).toEqual(['r/.git/hooks']);
    letTimePass();
    expect(
      (await bench.run(guard, 'mkdir -p t/objects t/refs t/hooks; echo evil >t/hooks/post-checkout')).quarantined,
    ).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, 'echo "ref: refs/heads/main" >t/HEAD')).quarantined).toEqual(['t/HEAD']);
  });

  test('a file with a second name in a new repository is moved aside, because it could be changed through that name', async () => {
    const guard = bench.guard();
    const report = await bench.run(guard, 'git init -q r; ln r/.git/config alias');
    expect(report.quarantined).toEqual(['r/.git/config']);
  });

  test('a run does not count as old what an overlapping run made', async () => {
    const guard = bench.guard();
    const first = guard.begin(await guard.protection());
    bench.sh('mkdir -p a/b; touch a/b/.envrc .mcp.json');
    const second = guard.begin(await guard.protection());
    expect(pathsOf(await guard.finish(first)).quarantined).toEqual(['.mcp.json', 'a/b/.envrc']);
    bench.sh('touch .mcp.json a/b/.envrc');
    expect(pathsOf(await guard.finish(second)).quarantined).toEqual(['.mcp.json', 'a/b/.envrc']);
    expect(bench.names('a/b')).toEqual([]);
    expect(bench.stored().map((path) => basename(path))).toEqual(['.envrc', '.envrc', '.mcp.json', '.mcp.json']);
  });

  test('a repository that one run made is judged again if an older run changes it in place', async () => {
    const guard = bench.guard();
    const long = guard.begin(await guard.protection());
    expect((await bench.run(guard, 'git init -q x/r')).quarantined).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
    writeFileSync(join(bench.workspace, 'x/r/.git/config'), '[core]\nfsmonitor = evil\n');
    expect(pathsOf(await guard.finish(long)).quarantined).toEqual(['x/r/.git/config']);
  });

  test('a file that takes the place of a mounted one is no longer protected from the run', async () => {
    bench.sh('echo mine >.envrc');
    const guard = bench.guard();
    const report = await bench.run(guard, 'echo other >new; mv new .envrc');
    expect(report.quarantined).toEqual(['.envrc']);
  });

  test('a repository in the place of a .git file is left alone, and so are files of a directory that is no longer a repository', async () => {
    bench.sh('git init -q main && git -C main commit -q --allow-empty -m x && git -C main worktree add -q ../a/wt');
    bench.sh('git init -q --bare a/bare');
    const guard = bench.guard();
    await guard.protection();
    bench.sh('rm a/wt/.git && git init -q a/wt && rm a/bare/HEAD');
    letTimePass();
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, 'git -C a/wt add -A; echo text >a/bare/config')).quarantined).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, 'git -C a/wt commit -q --allow-empty -m x')).quarantined).toEqual([]);
  });

  test('SEC-2.3 files that were made after a process started are not protected from that process', async () => {
    const guard = bench.guard();
    const before = await guard.protection();
    bench.sh('echo mine >.envrc');
    letTimePass();
    const now = await guard.protection();
    const watch = guard.begin(narrowCover(now, new Set([before.cover])));
    bench.sh('echo other >.envrc');
    expect(pathsOf(await guard.finish(watch)).quarantined).toEqual(['.envrc']);
  });

  test('SEC-2.3 every name of a file is moved aside, although moving the first one updates the ctime of the others', async () => {
    // Its end lies before everything that the search does, as on a machine that is slow.
    const guard = bench.guard([], { now: () => Date.now() - 5, monotonic: () => 0 });
    const watch = guard.begin(await guard.protection());
    bench.sh('echo x >f; for name in .envrc .mcp.json a/.bashrc a/b/.npmrc; do mkdir -p a/b; ln f $name; done');
    letTimePass();
    expect(pathsOf(await guard.finish(watch)).quarantined).toEqual(['.envrc', '.mcp.json', 'a/.bashrc', 'a/b/.npmrc']);
  });

  test('a run that never started made nothing', async () => {
    const guard = bench.guard();
    guard.forget(guard.begin(await guard.protection()));
    bench.sh('mkdir -p a/b; touch a/b/.envrc');
    letTimePass();
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
  });
});

describe('links', () => {
  test('SEC-2.3 a link that was replaced or removed is put back', async () => {
    bench.sh('mkdir -p conf sub && ln -s conf .claude && ln -s ../conf sub/.vscode');
    const guard = bench.guard();
    const report = await bench.run(guard, 'rm .claude sub/.vscode; mkdir .claude; touch .claude/x');
    expect(report.quarantined).toEqual(['.claude']);
    expect(readlinkSync(join(bench.workspace, '.claude'))).toBe('conf');
    expect(readlinkSync(join(bench.workspace, 'sub/.vscode'))).toBe('../conf');
  });

  test('SEC-2.3 a link that leads elsewhere because another link on its way changed is moved aside', async () => {
    bench.sh('mkdir -p real/claude && ln -s real conf && ln -s conf/claude .claude && ln -s later .envrc');
    const guard = bench.guard();
    const report = await bench.run(guard, 'rm conf; mkdir -p conf/claude; echo evil >later');
    expect(report.quarantined).toEqual(['.claude', '.envrc']);
    expect(lstatSync(join(bench.workspace, '.claude'), { throwIfNoEntry: false })).toBeUndefined();
  });

  test('SEC-2.3 nothing outside is touched through a link that a run made', async () => {
    mkdirSync(join(bench.base, 'outside/.claude'), { recursive: true });
    const guard = bench.guard();
    const report = await bench.run(guard, 'ln -s ../outside l; ln -s / root; ln -s .. up; ln -s ../outside .idea');
    expect(report.quarantined).toEqual(['.idea']);
    expect(existsSync(join(bench.base, 'outside/.claude'))).toBe(true);
    bench.sh('rm -r l && mkdir l && touch l/x');
    await bench.run(guard, 'rm -r l; ln -s ../outside l');
    expect(existsSync(join(bench.base, 'outside/.claude'))).toBe(true);
  });
});

describe('the search copes with', () => {
  test('names with newlines and names that are not UTF-8', async () => {
    const guard = bench.guard();
    const report = await bench.run(
      guard,
      `for d in $'a\\nb' $'\\377\\376' $'\\303\\251' '*?['; do mkdir -p "$d/$d"; touch "$d/$d/.envrc"; done`,
    );
    expect(report.quarantined).toEqual(['*?[/*?[/.envrc', 'a\nb/a\nb/.envrc', 'é/é/.envrc', '��/��/.envrc']);
    expect(bench.sh('find . -name .envrc')).toBe('');
  });

  test('a tree that is deeper than the longest path', async () => {
    const guard = bench.guard();
    const name = 'd'.repeat(200);
    const report = await bench.run(
      guard,
      `for i in {1..40}; do mkdir ${name}; cd ${name}; [ $i = 5 ] && touch .envrc; done; touch .envrc`,
    );
    const depths = report.quarantined.map((path) => path.split('/').length - 1);
    expect([depths.sort(), report.complete]).toEqual([[40, 5], true]);
    expect((await bench.run(guard, `mv ${`${name}/`.repeat(15)} top`)).complete).toBe(true);
    expect((await bench.run(guard, `mv top/${`${name}/`.repeat(15)} top2`)).quarantined).toEqual([]);
    expect(bench.names(`top2/${`${name}/`.repeat(10)}`)).toEqual([]);
    expect(bench.stored().map((path) => basename(path))).toEqual(['.envrc', '.envrc']);
  });

  test('directories that the run closed, which it opens, and directories that a person closed, which stay closed', async () => {
    bench.sh('mkdir -p mine/x && touch mine/x/.envrc && chmod 000 mine');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const report = await bench.run(
      guard,
      'mkdir -p a/b; touch a/b/.envrc a/.envrc; chmod 000 a/b; chmod 000 a; mkdir c; touch c/.envrc; chmod 300 c; mkdir r; touch r/.envrc; chmod 500 r',
    );
    expect(report.quarantined).toEqual(['a/.envrc', 'a/b/.envrc', 'c/.envrc', 'r/.envrc']);
    expect(lstatSync(join(bench.workspace, 'mine')).mode & 0o777).toBe(0);
    expect(lstatSync(join(bench.workspace, 'r')).mode & 0o777).toBe(0o500);
  });

  test('a closed directory of a person that the run opened and closed again', async () => {
    bench.sh('mkdir -p mine/x && touch mine/x/.envrc && chmod 000 mine');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const report = await bench.run(guard, 'chmod 700 mine; mkdir mine/y; touch mine/y/.envrc; chmod 000 mine');
    expect(report.quarantined).toEqual(['mine/y/.envrc']);
    expect(existsSync(join(bench.workspace, 'mine/x/.envrc'))).toBe(true);
  });

  test('50,000 files beside a dangerous one', async () => {
    const guard = bench.guard();
    await guard.protection();
    const watch = guard.begin(await guard.protection());
    mkdirSync(join(bench.workspace, 'many'));
    for (let i = 0; i < 50_000; i++) symlinkSync('x', join(bench.workspace, 'many', `f${i}`));
    bench.sh('touch many/.envrc .mcp.json');
    const report = pathsOf(await guard.finish(watch));
    expect(report.quarantined).toContain('.mcp.json');
    await guard.settled();
    const late = (await bench.run(guard, 'true')).quarantined;
    expect([...report.quarantined, ...late].sort()).toEqual(['.mcp.json', 'many/.envrc']);
  });
});

describe('when there is little time', () => {
  test('the rest is found in the background and is in the next report', async () => {
    bench.sh('for i in {1..300}; do mkdir -p d$i/e$i; done');
    const { logger, events } = recordingLogger();
    const guard = bench.guard([], hastyClock(), logger);
    const report = await bench.run(guard, 'touch .envrc; for i in {1..300}; do touch d$i/e$i/.envrc; done');
    expect(report.complete).toBe(false);
    expect(report.quarantined).toContain('.envrc');
    expect(report.quarantined.length).toBeLessThan(301);
    await guard.settled();
    expect(bench.sh('find . -name .envrc')).toBe('');
    expect(events.filter(({ event }) => event === 'sandbox.quarantined')).toHaveLength(301);
    const next = await bench.run(guard, 'true');
    expect(report.quarantined.length + next.quarantined.length).toBe(301);
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
  });

  test('runs that follow each other without a pause do not keep the search from reaching every directory', async () => {
    bench.sh('for i in {1..300}; do mkdir -p d$i/e$i; done');
    const guard = bench.guard([], hastyClock());
    const found: string[] = [];
    found.push(
      ...(
        await bench.run(guard, 'touch d{1..300}/e1/.envrc 2>/dev/null || true; touch d299/e299/.envrc d150/e150/.envrc')
      ).quarantined,
    );
    for (let i = 0; i < 60; i++) {
      const watch = guard.begin(await guard.protection());
      found.push(...pathsOf(await guard.finish(watch)).quarantined);
    }
    expect(found.sort()).toEqual(['d1/e1/.envrc', 'd150/e150/.envrc', 'd299/e299/.envrc']);
  });

  test('directories that changed last are searched first', async () => {
    bench.sh('for i in {1..600}; do mkdir -p d$i/e; done');
    const guard = bench.guard([], hastyClock());
    await bench.run(guard, 'touch d577/e/x');
    await guard.settled();
    letTimePass();
    expect(await bench.run(guard, 'touch d577/e/.envrc')).toEqual({ quarantined: ['d577/e/.envrc'], complete: false });
  });

  test('a file that a person makes after the run, while the search goes on, stays', async () => {
    bench.sh('for i in {1..600}; do mkdir -p d$i/e; done');
    const clock = hastyClock();
    const guard = bench.guard([], clock);
    const watch = guard.begin(await guard.protection());
    expect((await guard.finish(watch)).complete).toBe(false);
    clock.relax();
    letTimePass();
    bench.sh('touch d{1..600}/e/.envrc');
    await guard.settled();
    expect(bench.sh('ls d*/e/.envrc | wc -l')).toBe('600\n');
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
  });
});
