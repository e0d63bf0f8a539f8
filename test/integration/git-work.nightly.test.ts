import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, type Outcome, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';
import { letTimePass } from '../helpers/workspace-bench.ts';

const [who = 'ordinary user', other] = whoCanRun();
const WORKING = { git: 'working', network: 'project' } as const;

/** Runs after which a search is complete. */
const SEARCH_ROUNDS = 20;

/** The person's configuration: with an identity, and with settings that must not get inside. */
const PERSON = [
  '[user]\n\tname = A Person\n\temail = person@example.com\n',
  '[commit]\n\tgpgsign = true\n[core]\n\tpager = false\n\teditor = false\n[alias]\n\tci = !false\n',
].join('');

/** Commits get the same times, so that equal histories have equal hashes. */
const TIMES = "export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'; set -e; ";
const STATE = [
  "git for-each-ref --format='%(objectname) %(refname)'",
  'git status --porcelain --branch',
  'git stash list --format=%gs',
  'git worktree list --porcelain | grep -c ^worktree',
].join('; ');

/** Each runs after the others in one repository: first in the sandbox, then outside in a copy of the same repository. */
const FLOWS: readonly (readonly [string, string])[] = [
  [
    'commit',
    'echo 1 > a; git add a; git commit -qm one; git commit -q --amend -m first; git log -1 --format="%an %ae"',
  ],
  [
    'branch, merge and delete',
    'git switch -qc x; echo 2 > b; git add b; git commit -qm two; git switch -q main; git merge -q --no-ff -m merged x; git branch -D x',
  ],
  [
    'rebase with a conflict',
    'echo m > a; git commit -qam m; git switch -qc y HEAD~1; echo y > a; git commit -qam y; git rebase main || true; echo y > a; git add a; GIT_EDITOR=true git rebase --continue; git switch -q main; git merge -q y; git branch -d y',
  ],
  [
    'interactive rebase',
    "for i in 1 2 3; do echo $i >> c; git add c; git commit -qm c$i; done; GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -qi HEAD~3",
  ],
  [
    'cherry-pick and revert',
    'git switch -qc z HEAD~1; git cherry-pick main; git revert --no-edit HEAD; git switch -q main; git branch -D z',
  ],
  [
    'stash',
    'echo s >> a; git stash push -qm kept; git stash apply -q; git checkout -q a; git stash drop -q; echo t >> a; git stash -q',
  ],
  ['tag', 'git tag v1; git tag -a v2 -m two; git tag -d v1; git describe'],
  [
    'remote',
    'git remote add origin https://example.com/a.git; git remote rename origin up; git remote set-url up https://example.com/b.git; git remote -v; git remote remove up',
  ],
  [
    'configuration',
    'git config user.name Other; git config --get user.name; git config --unset user.name; git config --global alias.st status; git config core.abbrev 9; git config --unset core.abbrev',
  ],
  [
    'push with -u',
    'git init -q --bare ../up.git 2>/dev/null || git init -q --bare /tmp/up.git; git remote add near $([ -d ../up.git ] && echo ../up.git || echo /tmp/up.git); git push -q -u near main; git status -sb; git remote remove near',
  ],
  [
    'tracking branch',
    'git update-ref refs/remotes/o/main main; git config remote.o.url https://example.com/o.git; git config remote.o.fetch "+refs/heads/*:refs/remotes/o/*"; git switch -qc follows --track o/main; git rev-parse --abbrev-ref @{u}; git switch -q main; git branch -m follows renamed; git branch -D renamed; git update-ref -d refs/remotes/o/main; git config --remove-section remote.o',
  ],
  [
    'worktree',
    'git worktree add -q -b wt wt; cd wt; echo w > w; git add w; git commit -qm w; cd ..; git worktree remove wt; git branch -D wt',
  ],
  [
    'clone',
    'git clone -q . copy; cd copy; git config core.abbrev 8; git switch -qc n; echo n > n; git add n; git commit -qm n; git push -q origin n; cd ..; rm -rf copy; git branch -D n',
  ],
  [
    'submodule',
    'git init -qb main lib; (cd lib; echo l > l; git add l; git commit -qm l); git -c protocol.file.allow=always submodule add -q ./lib sub 2>&1; git commit -qm sub; git submodule status | cut -c1-41; git submodule deinit -f sub; git -c protocol.file.allow=always submodule update -q --init; git rm -qf sub; git commit -qm "no sub"; rm -rf lib .git/modules; git config --remove-section submodule.sub || true',
  ],
  [
    'apply and am',
    'echo p >> a; git diff > p.diff; git checkout -q a; git apply p.diff; git commit -qam p; git format-patch -q -1 --stdout > p.mbox; git reset -q --hard HEAD~1; git am -q p.mbox; rm p.diff p.mbox',
  ],
  [
    'bisect, notes, gc',
    'git bisect start HEAD HEAD~2 > /dev/null; git bisect reset 2> /dev/null; git notes add -m n; git gc -q; git fsck --no-progress',
  ],
  [
    'mv and clean',
    'mkdir -p d/e; echo d > d/e/f; git add d; git commit -qm d; git mv d g; git commit -qm g; touch junk; git clean -fdq; ls',
  ],
  [
    'orphan and reset',
    'git checkout -q --orphan o; git rm -rfq .; git commit -q --allow-empty -m o; git switch -q main; git branch -D o; git reset -q --hard HEAD~1',
  ],
];

describe(`as ${who}`, () => {
  let bench: Bench;
  let twin: string;
  /** The search of a run may end after its answer; the next runs then report what it finds. */
  const inside = async (script: string): Promise<Outcome> => {
    const done = await bench.bash(script, {}, WORKING);
    const quarantined = [...done.quarantined];
    for (let last = done, round = 0; !last.searchComplete && round < SEARCH_ROUNDS; round++) {
      last = await bench.bash('true', {}, WORKING);
      quarantined.push(...last.quarantined);
    }
    return { ...done, quarantined: quarantined.sort() };
  };
  const outside = (script: string) =>
    spawnSync('bash', ['-c', script], {
      cwd: twin,
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', HOME: join(bench.base, 'other-home'), LANG: 'C.UTF-8' },
    });
  const config = () => readFileSync(join(bench.workspace, '.git/config'), 'utf8');

  beforeAll(async () => {
    bench = await openBench(who);
    writeFileSync(join(bench.base, '.gitconfig'), PERSON);
    mkdirSync(join(bench.base, 'other-home'));
    writeFileSync(join(bench.base, 'other-home/.gitconfig'), PERSON.replace('gpgsign = true', ''));
    bench.host('git init -q -b main . && git commit -q --allow-empty -m root');
    twin = join(bench.base, 'twin/workspace');
    cpSync(bench.workspace, twin, { recursive: true });
  });
  afterAll(() => bench.close());

  test('every flow of git does inside what it does outside', async () => {
    const denied: string[] = [];
    for (const [name, script] of FLOWS) {
      const here = await inside(TIMES + script);
      const there = outside(TIMES + script);
      expect([name, here.exitCode, here.out, here.err]).toEqual([name, 0, there.stdout, here.err]);
      expect([name, (await inside(STATE)).out]).toEqual([name, outside(STATE).stdout]);
      denied.push(...here.denied.map(({ rule }) => rule));
    }
    expect(denied.filter((rule) => rule.includes('not signed'))).toHaveLength(1);
    expect(config()).not.toMatch(/example|abbrev|Other/);
  }, 60_000);

  test('commits carry the name of the person, and nothing else of the configuration that runs something', async () => {
    const { out } = await inside('cat /etc/gitconfig; git config --list --show-scope | grep -v ^local');
    expect(out).toContain('user.name=A Person');
    expect(out).not.toMatch(/gpgsign|pager|editor|alias/);
  });

  test("git add leaves out what the person's own ignore file names, and what contextd set aside", async () => {
    writeFileSync(join(bench.base, 'ignored'), '*.own\n');
    writeFileSync(join(bench.base, '.gitconfig'), `${PERSON}[core]\n\texcludesFile = ~/ignored\n`);
    expect((await inside('touch x.own plain; mkdir .vscode; touch .vscode/a')).quarantined).toEqual(['.vscode']);
    await expect.poll(async () => (await inside('git add -An')).out, { timeout: 20_000 }).toBe("add 'plain'\n");
    await inside('rm -rf x.own plain');
  });

  test('a repository that asks for signatures gets commits without them', async () => {
    bench.host('git config commit.gpgsign true');
    const { exitCode, denied } = await inside('git commit -q --allow-empty -m unsigned && git config commit.gpgsign');
    expect([exitCode, denied]).toEqual([0, []]);
    expect(config()).toContain('gpgsign = true');
    bench.host('git config --unset commit.gpgsign');
  });

  test('new remotes and branches reach the host, beside what the person changed meanwhile', async () => {
    const before = config();
    const running = inside(
      'until [ -e go ]; do :; done; git remote add up git@example.com:a.git; git switch -qc new; git config branch.new.remote up; git config branch.new.merge refs/heads/new; git config remote.up.pushurl https://example.com/b; git config alias.st "!id"; git switch -q main',
    );
    bench.host('git config branch.main.description mine; touch go');
    const { exitCode, denied, raw } = await running;
    expect(exitCode).toBe(0);
    const kept = `kept in ${join(bench.workspace, '.git/config')}: remote up = git@example.com:a.git, branch new tracks up`;
    expect(raw.notices).toEqual([kept]);
    expect(denied).toEqual([
      {
        kind: 'git_config',
        path: join(bench.workspace, '.git/config'),
        rule: 'of what a command changes here, only new remotes and branches with plain URLs stay',
        how_to_allow: 'A person can change remote.up.pushurl, alias.st with git config on the host.',
      },
    ]);
    expect(config()).toBe(
      `${before}[branch "main"]\n\tdescription = mine\n[remote "up"]\n\turl = git@example.com:a.git\n\tfetch = +refs/heads/*:refs/remotes/up/*\n[branch "new"]\n\tremote = up\n\tmerge = refs/heads/new\n`,
    );
    expect((await inside('git remote; git config --get branch.new.merge')).out).toBe('up\nrefs/heads/new\n');
    expect(bench.host('ls .git')).not.toContain('lock');
  });

  test('a branch that was there does not follow a remote that the same command added, packed or not', async () => {
    bench.host('git branch packed && git pack-refs --all && git branch team/loose');
    const branches = ['packed', 'team/loose', 'made'];
    const track = branches.map((name) => `git config branch.${name}.remote evil`).join('; ');
    const { denied, raw } = await inside(`git remote add evil https://example.com/e.git; git branch made; ${track}`);
    expect(denied.map(({ how_to_allow }) => how_to_allow)).toEqual([
      expect.stringContaining('branch.packed, branch.team/loose'),
    ]);
    expect(raw.notices).toEqual([expect.stringMatching(/: remote evil = https:\S+, branch made tracks evil$/)]);
    expect(bench.host('git config --get-regexp "branch.*.remote" evil')).toBe('branch.made.remote evil\n');
    bench.host('git remote remove evil; git branch -D made packed team/loose');
  });

  test('a command that fills the directory of its copies is ended, in bytes or in files, and nothing of it stays', async () => {
    const copies = '/run/contextd-git/*/';
    for (const fill of ['dd if=/dev/zero of=x bs=1M count=200', 'mkdir d && cd d && touch $(seq 3000)']) {
      const { endedBy } = await inside(`cd ${copies}; ${fill} 2>/dev/null; sleep 20`);
      expect([fill, endedBy]).toEqual([fill, 'storage_limit']);
    }
    expect((await inside(`cd ${copies}; dd if=/dev/zero of=x bs=1M count=9 2>/dev/null; ls`)).out).toBe('config\nx\n');
  });

  test("the host's file cannot be written, replaced or removed, and a locked one is left alone", async () => {
    const before = config();
    const tries = 'cd .git; rm -f config; mv -f HEAD config; ln -f HEAD config; echo "[core]" > config; ls -l config';
    const { out } = await inside(`cp .git/HEAD h; ${tries}`);
    expect(out).toContain('-> /run/contextd-git/');
    expect(config()).toBe(before);
    bench.host('touch .git/config.lock');
    letTimePass();
    const { denied } = await inside('git remote add late https://example.com/late');
    expect(denied[0]?.how_to_allow).toContain('locked by another git');
    bench.host('rm .git/config.lock');
    expect(config()).toBe(before);
  });

  test('a later call can move and remove worktrees, clones and submodules that earlier calls made', async () => {
    const steps = [
      'git worktree add -q wt; git clone -q . copy; git -C copy config core.abbrev 8',
      'cd wt; echo w > w; git add w; git commit -qm w; cd ../copy; git commit -q --allow-empty -m c',
      'git worktree move wt moved; mv copy copied; git -C copied config core.abbrev 9',
      'git worktree remove moved; git branch -D wt; rm -rf copied; git worktree list',
      '(git init -qb main lib; cd lib; git commit -q --allow-empty -m l); git -c protocol.file.allow=always submodule add -q ./lib sub',
      'git rm -qf sub; rm -rf lib .git/modules/sub; git reset -q --hard; ls',
    ];
    for (const step of steps) {
      const { exitCode, err, quarantined } = await inside(`set -e; ${step}`);
      expect([step, exitCode, err, quarantined]).toEqual([step, 0, err, []]);
    }
    expect(bench.host('git worktree list | wc -l; ls -A .git/worktrees .git/modules 2>&1 || true')).toMatch(/^1\n/);
  });

  test('what a later call makes of them is judged as before, and a clone of the person stays protected', async () => {
    await inside('git clone -q . copy');
    const evil = 'cd copy; echo id > .git/hooks/post-commit; git config core.fsmonitor id';
    expect((await inside(evil)).quarantined).toEqual(['copy/.git/config', 'copy/.git/hooks']);
    bench.host('rm -rf copy; git clone -q . mine');
    // A clone made in the same moment as a run could be the run's.
    letTimePass();
    const { out, err } = await inside('rm -rf mine; ls mine/.git; git -C mine config core.fsmonitor id');
    expect([out, err]).toEqual([expect.stringContaining('config'), expect.stringContaining('busy')]);
    bench.host('rm -rf mine');
  });

  test('worktrees keep the tracked settings that the root has too, and no others', async () => {
    bench.host(
      'mkdir .vscode && echo 1 > .vscode/settings.json && echo 2 > .npmrc && git add . && git commit -qm settings',
    );
    const steps: [string, string[]][] = [
      ['git worktree add -q -b kept kept && git -C kept status --porcelain', []],
      [
        'git -C kept status --porcelain; echo evil > kept/.npmrc; mkdir -p d; echo evil > d/.npmrc',
        ['d/.npmrc', 'kept/.npmrc'],
      ],
      ['git -C kept checkout -q . && rm kept/*.quarantined* kept/.npmrc.q* d -rf; git -C kept status --porcelain', []],
      ['git worktree remove kept && git branch -D kept', []],
    ];
    for (const [step, quarantined] of steps) {
      const done = await inside(step);
      expect([step, done.exitCode, done.quarantined]).toEqual([step, 0, quarantined]);
    }
    bench.host('git reset -q --hard HEAD~1');
  });

  test('a worktree keeps settings of which the root has more, and every commit in it keeps them', async () => {
    bench.host(
      [
        'mkdir -p .claude/bin .claude/tools/t .agents/s pkg/.vscode && echo 1 > .claude/settings.json && echo {} > opencode.json',
        'echo 2 > .claude/tools/t/schema.json && printf "bin/\\nt/t\\nlocal\\n" > .claude/.gitignore && echo s > .agents/s/S',
        'ln -s ../.agents/s .claude/skills && ln -s /usr/bin/env .claude/env && echo 3 > pkg/.vscode/tasks.json',
        'git add . && git commit -qm settings && ln -s /usr/bin/true .claude/bin/t && ln -s /usr/bin/true .claude/tools/t/t',
        'echo mine > .claude/local',
      ].join('; '),
    );
    // What the person made in the same moment as a run could be the run's.
    letTimePass();
    const add = 'git worktree add -q -b second second; cd second; git status --porcelain; ';
    const done = await inside(`${add} echo w > w; git add -A; git commit -qm w; git status --porcelain`);
    expect([done.exitCode, done.out, done.quarantined]).toEqual([0, '', []]);
    expect(bench.host('git -C second status --porcelain; git diff --stat main second -- | tail -n 1')).toBe(
      ' 1 file changed, 1 insertion(+)\n',
    );
    // Each is one entry more or other than the root's, in a copy that is else the same.
    const copy = 'cp -a second/';
    const made: [string, string][] = [
      [`mkdir c0; ${copy}.claude c0; echo x > c0/.claude/new`, 'c0/.claude'],
      [`mkdir c1; ${copy}.claude c1; echo x > c1/.claude/settings.json`, 'c1/.claude'],
      [`mkdir c2; ${copy}.claude c2; chmod +x c2/.claude/tools/t/schema.json`, 'c2/.claude'],
      [`mkdir c3; ${copy}.claude c3; ln -sfn /usr/bin/false c3/.claude/env`, 'c3/.claude'],
      [`mkdir c4; ${copy}.claude c4; rm c4/.claude/settings.json; mkdir c4/.claude/settings.json`, 'c4/.claude'],
      [`mkdir -p c5/pkg; ${copy}pkg/.vscode c5`, 'c5/.vscode'],
    ];
    const { quarantined } = await inside(made.map(([script]) => script).join('; '));
    expect(quarantined).toEqual(made.map(([, path]) => path));
    bench.host(
      'rm -rf c? && git worktree remove --force second && git branch -qD second && git reset -q --hard HEAD~1',
    );
    bench.host('rm -rf .claude .agents pkg opencode.json');
  });

  test('a branch without a protected file can be left with the remedy that the refusal names, and rebased in a worktree', async () => {
    bench.host(
      'git branch old && mkdir .claude && echo 1 > .claude/a && echo {} > opencode.json && git add . && git commit -qm own',
    );
    const remedy = expect.stringMatching(/git checkout -f BRANCH.*git worktree add DIR BRANCH/);
    const kept = (name: string) => ({ path: join(bench.workspace, name), how_to_allow: remedy });
    const left = await inside('git checkout -q old; echo 1 > o; git add o; git commit -qm o');
    expect(left).toMatchObject({ exitCode: 0, denied: [kept('.claude/a'), kept('opencode.json')] });
    for (const refused of ['git checkout -q main', 'git rebase main', 'git merge main']) {
      expect([refused, await inside(refused)]).toMatchObject([refused, { denied: [kept('.claude/a')] }]);
    }
    await inside('git checkout -qf main');
    const there = 'git symbolic-ref --short HEAD; git status --porcelain';
    expect((await inside(there)).out).toBe('main\n');
    const based = await inside(
      'git worktree add -q wt old; cd wt; git rebase -q main; git log --format=%s -2; git status --porcelain',
    );
    expect([based.out, based.quarantined]).toEqual(['o\nown\n', []]);
    await inside('git worktree remove wt; git checkout -q old~2');
    expect(bench.host(`git checkout -qf main; ${there}`)).toBe('main\n');
    bench.host('git branch -D old; git reset -q --hard HEAD~1');
  });

  test('git in a part of the repository names the top, and how to let commands use it', async () => {
    const path = join(bench.workspace, 'part');
    bench.host('mkdir part');
    const { denied } = await bench.bash('git status', { cwd: path }, { ...WORKING, workspace: { path, layer: null } });
    expect(denied).toMatchObject([
      {
        path: join(bench.workspace, '.git'),
        how_to_allow: expect.stringContaining(`ctxd allow path ${bench.workspace}`),
      },
    ]);
    bench.host('rmdir part');
  });

  test('a tool process finds the configuration itself, read-only', async () => {
    const { out, exitCode } = await bench.bash('stat -c %F .git/config; git config user.name x');
    expect(out).toBe('regular file\n');
    expect(exitCode).not.toBe(0);
  });
});

test.runIf(other !== undefined)(`as ${other}: git works in the project of another user`, async () => {
  const bench = await openBench(other ?? who);
  try {
    bench.host('git init -q -b main . && git config user.name Own && git config user.email own@example.com');
    const script =
      'echo a > a; git add a; git commit -qm a; git remote add up https://example.com/a; git log --format=%an';
    const { out, exitCode } = await bench.bash(script, {}, WORKING);
    expect([exitCode, out]).toEqual([0, 'Own\n']);
    expect(bench.host('git remote; find . -not -user nobody; ls .git')).toMatch(/^up\n(?!.*lock)/s);
  } finally {
    await bench.close();
  }
});
