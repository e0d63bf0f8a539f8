import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Bench, letTimePass, openBench, pathsOf } from '../helpers/workspace-bench.ts';

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

/** A repository’s directory of a worktree, without which its parts are only files. */
const HEAD_OF_X =
  '[ ! -d worktrees/x ] || { echo "ref: refs/heads/x" >worktrees/x/HEAD; echo ../.. >worktrees/x/commondir; }';
/** Maps a file, touches the page, and changes it after a line of input, when no page fault tells of it. */
const MAPPER = `import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
os.ftruncate(fd, 200)
page = mmap.mmap(fd, 200)
page[0:200] = b"[core]\\n\\tbare = false\\n".ljust(200, b"\\n")
print("ready", flush=True)
sys.stdin.readline()
page[0:200] = b"[core]\\n\\tfsmonitor = id\\n".ljust(200, b"\\n")
`;
const EVIL = '[core]\\n\\trepositoryformatversion=0\\n\\tfsmonitor="id;false"\\n';

describe('SEC-2.3 everything that git would use as a repository is judged as one', () => {
  test('a common directory without HEAD, reached through commondir', async () => {
    bench.sh('git init -q -b main . && git commit -q --allow-empty -m x');
    const guard = bench.guard();
    const report = await bench.run(
      guard,
      `mkdir -p v/objects v/refs v/worktrees/w v/hooks sub; printf '${EVIL}' >v/config
       printf 'id' >v/hooks/post-index-change; chmod +x v/hooks/post-index-change
       echo 'ref: refs/heads/m' >v/worktrees/w/HEAD; echo ../.. >v/worktrees/w/commondir
       echo 'gitdir: ../v/worktrees/w' >sub/.git
       git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub`,
    );
    expect(report.quarantined).toContain('sub/.git');
    expect(report.quarantined).toContain('v/worktrees/w/commondir');
    expect(report.quarantined).toContain('v/config');
  });

  test('a directory made in one run to which a later run points', async () => {
    const guard = bench.guard();
    const first = await bench.run(guard, 'mkdir -p lib/objects lib/refs lib/hooks; echo id >lib/hooks/post-checkout');
    expect(first.quarantined).toEqual([]);
    letTimePass();
    const second = await bench.run(guard, 'mkdir sub; echo "gitdir: ../lib" >sub/.git');
    expect(second.quarantined).toEqual(['sub/.git']);
    expect(bench.names('lib/hooks')).toEqual(['post-checkout']);
  });

  test('a directory of the person’s that a run turns into a repository loses what the run added, nothing else', async () => {
    mkdirSync(join(bench.workspace, 'src/hooks'), { recursive: true });
    writeFileSync(join(bench.workspace, 'src/hooks/use-thing.ts'), 'export {};\n');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const report = await bench.run(guard, 'cd src; mkdir objects refs; echo "ref: refs/heads/main" >HEAD');
    expect(report.quarantined).toEqual(['src/HEAD']);
    expect(bench.names('src/hooks')).toEqual(['use-thing.ts']);
  });

  test('a place where a .git file of the person’s leads before anything is there', async () => {
    bench.sh('mkdir sub && echo "gitdir: ../later" >sub/.git');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const report = await bench.run(
      guard,
      `mkdir -p later/hooks; echo id >later/hooks/pre-commit; printf '${EVIL}' >later/config`,
    );
    expect(report.quarantined).toEqual(['later/config', 'later/hooks']);
  });

  test('a link on the way of a .git file that a later run turns elsewhere', async () => {
    bench.sh('git init -q -b main good && mkdir sub && ln -s good/.git way && echo "gitdir: ../way" >sub/.git');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    await bench.run(guard, 'mkdir -p bad/objects bad/refs bad/hooks; echo id >bad/hooks/pre-commit');
    letTimePass();
    const report = await bench.run(guard, 'rm way; ln -s bad way');
    expect(report.quarantined).toEqual(['way']);
  });

  test.each([
    ['line ends of other systems', "printf 'gitdir: ../v\\r\\n\\r\\n' >sub/.git"],
    ['an absolute path', 'echo "gitdir: $PWD/v" >sub/.git'],
    ['a link of the name', 'ln -s ../v sub/.git'],
    ['a link to a file', 'echo "gitdir: ../v" >p; ln -s ../p sub/.git'],
    ['a detour', 'mkdir -p a/b; echo "gitdir: ../a/b/../../v" >sub/.git'],
  ])('a pointer written with %s', async (_title, script) => {
    const guard = bench.guard();
    const made = await bench.run(guard, 'mkdir -p sub v/hooks; echo id >v/hooks/pre-commit');
    expect(made.quarantined).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, script)).quarantined).toContain('sub/.git');
  });

  test('honest work stays: clone, worktree, submodule', async () => {
    bench.sh('git init -q -b main . && git commit -q --allow-empty -m x && git init -q -b main up');
    bench.sh('git -C up commit -q --allow-empty -m up');
    const guard = bench.guard();
    const report = await bench.run(
      guard,
      `git clone -q up clone 2>&1; git init -q --bare bare.git; git -C clone worktree add -q ../wt
       git -c protocol.file.allow=always submodule --quiet add "$PWD/up" sub 2>&1`,
    );
    expect(report.quarantined.filter((path) => !path.startsWith('.git/'))).toEqual([]);
    expect(bench.sh('git -C wt status --porcelain && git -C sub status --porcelain')).toBe('');
  });
});

describe('SEC-2.3 core.worktree stays in the project', () => {
  test.each([
    ['a tab before the path', 'worktree =\\t/elsewhere'],
    ['a link on the way', 'worktree = ../../lnk'],
    ['a directory that is not its own', 'worktree = ../../src'],
    ['quotes', 'worktree = "../../."./lnk'],
  ])('%s', async (_title, entry) => {
    const guard = bench.guard();
    const report = await bench.run(
      guard,
      `ln -s /elsewhere lnk; mkdir src; git init -q r; printf '[core]\\n\\t${entry}\\n' >>r/.git/config`,
    );
    expect(report.quarantined).toEqual(['r/.git/config']);
  });
});

describe('SEC-2.3 git on the host writes through no link that a run made', () => {
  test.each([
    ['a reflog', 'rm -f .git/logs/HEAD; ln -s /elsewhere/.bashrc .git/logs/HEAD', '.git/logs/HEAD'],
    ['the index', 'rm -f .git/index; ln -s ../innocent .git/index', '.git/index'],
    ['a message', 'rm -f .git/COMMIT_EDITMSG; ln -s ../../.bashrc .git/COMMIT_EDITMSG', '.git/COMMIT_EDITMSG'],
    ['a directory of references', 'ln -s /elsewhere .git/refs/more', '.git/refs/more'],
  ])('%s', async (_title, script, link) => {
    bench.sh('git init -q -b main . && git commit -q --allow-empty -m x');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    expect((await bench.run(guard, script)).quarantined).toEqual([link]);
  });

  test('a link that was there before something led git to it', async () => {
    const guard = bench.guard();
    await bench.run(guard, 'mkdir -p v/objects v/refs v/logs; ln -s /elsewhere v/logs/HEAD');
    letTimePass();
    expect((await bench.run(guard, 'mkdir sub; echo "gitdir: ../v" >sub/.git')).quarantined).toEqual(['sub/.git']);
  });

  test('links that stay in their git directory are left alone, and so are links of the working tree', async () => {
    bench.sh('git init -q -b main .');
    const script = 'git symbolic-ref refs/remotes/o/HEAD refs/x; ln -s heads .git/refs/alias; ln -s /elsewhere away';
    expect((await bench.run(bench.guard(), script)).quarantined).toEqual([]);
  });
});

describe('SEC-2.3 the state that a rebase, cherry-pick or am continues with', () => {
  const prepare = (): void => {
    bench.sh(
      `git init -q -b main . && echo 1 >f && git add f && git commit -qm one && git checkout -qb side && echo 2 >f &&
       git commit -qam two && git checkout -q main && echo 3 >f && git commit -qam three`,
    );
  };

  test.each(['exec id', 'x id', '  x\tid', 'nobody-knows id'])('an instruction sheet with "%s"', async (line) => {
    prepare();
    const guard = bench.guard();
    const report = await bench.run(
      guard,
      `git rebase side >/dev/null 2>&1 || true; printf '${line}\\n' >>.git/rebase-merge/git-rebase-todo`,
    );
    expect(report.quarantined).toEqual(['.git/rebase-merge/git-rebase-todo']);
  });

  test('a rebase that stopped at a conflict stays and is continued in a later run', async () => {
    prepare();
    const guard = bench.guard();
    expect((await bench.run(guard, 'git rebase side >/dev/null 2>&1 || true')).quarantined).toEqual([]);
    letTimePass();
    const script = 'echo 4 >f; git add f; GIT_EDITOR=true git rebase --continue >/dev/null 2>&1';
    expect((await bench.run(guard, script)).quarantined).toEqual([]);
    expect(bench.sh('git log --format=%s | head -1').trim()).toBe('three');
  });

  test('an exec that the person wrote stays when a run continues the rebase', async () => {
    prepare();
    bench.try("GIT_EDITOR=true git rebase -x 'true' -i side");
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const todo = '.git/rebase-merge/git-rebase-todo';
    expect((await bench.run(guard, `cp ${todo} t; echo 'pick 1234567 x' >>t; cat t >${todo}`)).quarantined).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, `echo 'exec id' >>${todo}`)).quarantined).toEqual([todo]);
  });

  test.each([
    ['rebase-merge/strategy', 'mine'],
    ['rebase-apply/strategy', 'mine'],
    ['sequencer/todo', 'exec id'],
    ['sequencer/opts', '[options]\\n\\tstrategy = mine'],
    ['rebase-merge/author-script', 'id'],
    ['BISECT_NAMES', ' $(id)'],
    ['rebase-apply/apply-opt', ' \\047--build-fake-ancestor=/elsewhere/x\\047'],
    ['worktrees/x/gitdir', '/elsewhere/.git'],
  ])('%s', async (name, text) => {
    prepare();
    const guard = bench.guard();
    const report = await bench.run(
      guard,
      `cd .git; mkdir -p ${name}; rmdir ${name}; ${HEAD_OF_X}; printf '${text}\\n' >${name}`,
    );
    expect(report.quarantined).toEqual([`.git/${name}`]);
  });

  test('a directory of git’s that is a link is moved aside as a whole', async () => {
    prepare();
    const guard = bench.guard();
    const report = await bench.run(guard, 'mkdir x; echo "exec id" >x/git-rebase-todo; ln -s ../x .git/rebase-merge');
    expect(report.quarantined).toEqual(['.git/rebase-merge']);
  });
});

test('SEC-2.3 remote addresses in git’s oldest format are set aside', async () => {
  bench.sh('git init -q -b main .');
  const report = await bench.run(bench.guard(), 'mkdir .git/remotes; echo "URL: ext::id" >.git/remotes/origin');
  expect(report.quarantined).toEqual(['.git/remotes']);
});

describe('SEC-2.3 a file that a run changes after the search has read it', () => {
  test('is set aside if it changes through a mapping, which does not update its ctime', async () => {
    const guard = bench.guard();
    const watch = guard.begin(await guard.protection());
    bench.sh('git init -q n && cp n/.git/config plain');
    const child = spawn('python3', ['-c', MAPPER, 'n/.git/config'], { cwd: bench.workspace });
    await once(child.stdout, 'data');
    await guard.protection();
    await guard.settled();
    child.stdin.end('go\n');
    await once(child, 'close');
    expect(pathsOf(await guard.finish(watch)).quarantined).toContain('n/.git/config');
  });

  test('is set aside if a link takes the place of a worktree', async () => {
    const guard = bench.guard();
    const watch = guard.begin(await guard.protection());
    bench.sh('git init -q r; mkdir w; echo "gitdir: ../r/.git" >w/.git; git -C r config core.worktree ../../w');
    await guard.protection();
    await guard.settled();
    bench.sh('rm -rf w; ln -s /elsewhere w');
    // The configuration goes too when it is looked at after the link.
    expect([['w'], ['r/.git/config', 'w']]).toContainEqual(pathsOf(await guard.finish(watch)).quarantined);
  });

  test('is set aside if another directory takes the place of the target of a protected link', async () => {
    bench.sh('mkdir -p shared pkg && echo ok >shared/env && ln -s ../shared/env pkg/.envrc');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const report = await bench.run(guard, 'mv shared s2; mkdir shared; echo evil >shared/env');
    expect(report.quarantined).toEqual(['pkg/.envrc']);
  });
});

test('SEC-2.3 the files that the person’s hooks lead to and run are mounted read-only', async () => {
  bench.sh(
    `git init -q -b main . && mkdir -p scripts .githooks src && for f in a b c d e; do echo true >scripts/$f.sh; done &&
     echo x >src/data.txt && ln -s ../scripts/a.sh .githooks/commit-msg && git config core.hooksPath .githooks &&
     printf 'if ! ./scripts/b.sh; then exit 1; fi\nA=1 ./scripts/c.sh\nbash -e scripts/d.sh src/data.txt\n' >.githooks/pre-commit &&
     ln -s ../../scripts/e.sh .git/hooks/pre-push`,
  );
  const { mounts } = await bench.guard().protection();
  const readOnly = mounts.filter(({ kind }) => kind === 'ro-bind').map(({ dest }) => dest);
  for (const name of ['a', 'b', 'c', 'd', 'e']) expect(readOnly).toContain(join(bench.workspace, `scripts/${name}.sh`));
  expect(readOnly).not.toContain(join(bench.workspace, 'src/data.txt'));
});

describe('SEC-2.3 a file of the project that the person’s own git configuration runs or reads', () => {
  test('is mounted read-only, and is set aside if a run makes it', async () => {
    bench.sh(
      `git init -q -b main . && mkdir -p .githooks tools && echo true >.githooks/pre-commit && echo cat >tools/show.sh &&
       echo '[user]' >team.gitconfig && git config core.hooksPath .githooks && git config include.path ../team.gitconfig &&
       git config diff.bin.textconv 'sh tools/show.sh' && git config filter.later.clean scripts/later.sh`,
    );
    const guard = bench.guard();
    const { mounts } = await guard.protection();
    const readOnly = mounts.filter(({ kind }) => kind === 'ro-bind').map(({ dest }) => dest);
    for (const path of ['.githooks', 'team.gitconfig', 'tools/show.sh'])
      expect(readOnly).toContain(join(bench.workspace, path));
    letTimePass();
    const report = await bench.run(guard, 'mkdir scripts; echo id >scripts/later.sh; echo ok >scripts/other.sh');
    expect(report.quarantined).toEqual(['scripts/later.sh']);
  });

  test('is protected in every repository of the project if a global core.hooksPath names it', async () => {
    writeFileSync(join(bench.base, 'gitconfig'), '[core]\n\thooksPath = .githooks\n');
    const guard = bench.guard([], undefined, undefined, {
      home: bench.base,
      gitConfigs: [join(bench.base, 'gitconfig')],
    });
    expect((await bench.run(guard, 'git init -q a')).quarantined).toEqual([]);
    letTimePass();
    const report = await bench.run(guard, 'mkdir a/.githooks .githooks; echo id >a/.githooks/pre-commit');
    expect(report.quarantined).toEqual(['.githooks', 'a/.githooks']);
  });

  test('is protected too if it was there before its repository, and in every worktree', async () => {
    writeFileSync(join(bench.base, 'gitconfig'), '[core]\n\thooksPath = ./tools/hooks/\n');
    const person = { home: bench.base, gitConfigs: [join(bench.base, 'gitconfig')] };
    const guard = bench.guard([], undefined, undefined, person);
    const first = await bench.run(guard, 'mkdir -p a/tools/hooks; echo id >a/tools/hooks/pre-commit');
    expect(first.quarantined).toEqual(['a/tools/hooks']);
    bench.sh('mkdir -p b/deep/tools/hooks && echo mine >b/deep/tools/hooks/pre-commit');
    letTimePass();
    await bench.run(guard, 'true');
    letTimePass();
    expect((await bench.run(guard, 'git init -q b/deep')).quarantined).toEqual([]);
    writeFileSync(join(bench.base, 'gitconfig'), '[core]\n\thooksPath = other/place\n');
    letTimePass();
    expect((await bench.run(guard, 'mkdir -p c/other/place')).quarantined).toEqual(['c/other/place']);
  });

  test('may be the settings of a hook manager whose hooks are installed', async () => {
    bench.sh(
      'git init -q -b main . && echo "exec pre-commit run" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit',
    );
    const guard = bench.guard();
    await guard.protection();
    expect((await bench.run(guard, 'echo x >.pre-commit-config.yaml')).quarantined).toEqual([
      '.pre-commit-config.yaml',
    ]);
  });

  test('may be written by the agent if no hooks are installed', async () => {
    bench.sh('git init -q -b main .');
    expect((await bench.run(bench.guard(), 'echo x >.pre-commit-config.yaml')).quarantined).toEqual([]);
  });
});

describe('SEC-2.3 a file that would be a git configuration, under any name', () => {
  test.each([
    ['[core]\\n\\tfsmonitor = id', 'notes.txt'],
    ['# long\\n; story\\n\\n[alias]\\n\\tst = !id', 'a/b/c'],
    ['[include]\\n\\tpath = /elsewhere', 'config'],
    ['[core] worktree = /elsewhere', 'x.ini'],
    ['[filter "a"] clean = id', 'y'],
    ['\\357\\273\\277[diff]\\r\\n external = id', 'bom'],
    ['[credential]\\n helper = !id', `${'n'.repeat(255)}`],
  ])('%s in %s', async (text, path) => {
    const guard = bench.guard();
    const report = await bench.run(guard, `mkdir -p a/b; printf '${text}\\n' >${path}`);
    expect(report.quarantined).toEqual([path]);
  });

  test('is set aside if it was written in place', async () => {
    bench.sh('mkdir -p deep/down && echo hello >deep/down/notes');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    const report = await bench.run(guard, "printf '[core]\\n\\tpager = id\\n' >deep/down/notes");
    await guard.settled();
    expect([...report.quarantined, ...(await bench.run(guard, 'true')).quarantined]).toEqual(['deep/down/notes']);
  });

  test.each([
    ['Cargo.toml', '[package]\\nname = "x"\\n[alias]\\nb = "build"'],
    ['setup.cfg', '[metadata]\\nname = x\\n[tool:pytest]\\naddopts = -q'],
    ['.editorconfig', 'root = true\\n[*]\\nindent_style = space'],
    ['pip.conf', '[global]\\nindex-url = https://example.com/simple'],
    ['.gitmodules', '[submodule "a"]\\n\\tpath = a\\n\\turl = https://example.com/a.git'],
    ['tox.ini', '[testenv]\\ncommands = pytest'],
    ['app.service', '[Service]\\nExecStart=/bin/true'],
    ['notes.md', '# core\\n\\n[link](fsmonitor)'],
    ['alembic.ini', '[alembic]\\nscript_location = x\\n[core]\\nremote = y'],
  ])('%s stays', async (path, text) => {
    expect((await bench.run(bench.guard(), `printf '${text}\\n' >${path}`)).quarantined).toEqual([]);
  });
});
