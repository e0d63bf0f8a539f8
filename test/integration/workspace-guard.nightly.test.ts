import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Mount } from '#src/guard/contract/mount.js';
import type { Protection } from '#src/guard/contract/protection.js';
import { type Bench, letTimePass, openBench } from '../helpers/workspace-bench.ts';

let bench: Bench;
let marker = '';
let payload = '';
beforeEach(() => {
  bench = openBench();
  marker = join(bench.base, 'payload-ran');
  payload = join(bench.base, 'payload');
  bench.sh(`printf '#!/bin/sh\\n: >${marker}\\ncat\\n' >${payload} && chmod +x ${payload}`);
  bench.sh('git init -q -b main . && echo 1 >f && git add f && git commit -qm one && mkdir known');
});
afterEach(() => bench.close());

/** What a hostile command does, in one or more runs, and what a person does on the host afterwards. */
interface Attack {
  readonly title: string;
  readonly runs: readonly string[];
  readonly host: string;
}

const EVIL_CONFIG = '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = $PAYLOAD\\n';
const EVIL_HOOK = 'cp $PAYLOAD $D/hooks/post-checkout';

const ATTACKS: readonly Attack[] = [
  {
    title: 'core.fsmonitor in a new repository',
    runs: [`git init -q r; printf "${EVIL_CONFIG}" >r/.git/config`],
    host: 'git -C r status',
  },
  {
    title: 'a hook in a new repository, deep down',
    runs: [`git clone -q . known/a/b; D=known/a/b/.git; ${EVIL_HOOK}`],
    host: 'git -C known/a/b checkout -b x',
  },
  {
    title: 'core.hooksPath in a cloned repository',
    runs: ['git clone -q . r; git -C r config core.hooksPath ../h; mkdir h; cp $PAYLOAD h/post-checkout'],
    host: 'git -C r checkout -b x',
  },
  {
    title: 'a filter driver',
    runs: ['git init -q r; git -C r config filter.x.clean $PAYLOAD; echo "* filter=x" >r/.gitattributes; echo 1 >r/f'],
    host: 'git -C r add f',
  },
  {
    title: 'an included file',
    runs: [`git init -q r; git -C r config include.path ../../evil; printf "${EVIL_CONFIG}" >evil`],
    host: 'git -C r status',
  },
  {
    title: 'a configuration for one worktree',
    runs: [
      `git init -q r; git -C r config extensions.worktreeConfig true; printf "${EVIL_CONFIG}" >r/.git/config.worktree`,
    ],
    host: 'git -C r status',
  },
  {
    title: 'a commondir in the root’s repository',
    runs: [`git clone -q --bare . c; printf "${EVIL_CONFIG}" >c/config; echo ../c >.git/commondir`],
    host: 'git status',
  },
  {
    title: 'a commondir in a new one',
    runs: [`git clone -q . r; cp -r r/.git r/c; printf "${EVIL_CONFIG}" >r/c/config; echo ../c >r/.git/commondir`],
    host: 'git -C r status',
  },
  {
    title: 'a bare repository among the files',
    runs: [`git init -q --bare r; printf "${EVIL_CONFIG}\\tbare = false\\n\\tworktree = .\\n" >r/config`],
    host: 'cd r && git status',
  },
  {
    title: 'a bare repository finished in a second run',
    runs: [
      `git init -q --bare r; mv r/HEAD r/H; printf "${EVIL_CONFIG}\\tbare = false\\n\\tworktree = .\\n" >r/config`,
      'mv r/H r/HEAD',
    ],
    host: 'cd r && git status',
  },
  {
    title: 'a directory that becomes .git in a second run',
    runs: [
      `git init -q r; mv r/.git r/g; mv r/g/HEAD r/g/H; printf "${EVIL_CONFIG}" >r/g/config`,
      'mv r/g/H r/g/HEAD; mv r/g r/.git',
    ],
    host: 'git -C r status',
  },
  {
    title: 'a .git file that points out of the workspace',
    runs: [
      `git init -q ../evil; printf "${EVIL_CONFIG}" >../evil/.git/config; mkdir r; echo "gitdir: $PWD/../evil/.git" >r/.git`,
    ],
    host: 'git -C r status',
  },
  {
    title: 'a .git file that points to what looks like a file of another kind',
    runs: [
      `git init -q e; mv e/.git known/data; printf "${EVIL_CONFIG}" >known/data/config; mkdir r; echo "gitdir: ../known/data" >r/.git`,
    ],
    host: 'git -C r status',
  },
  {
    title: 'a .git link',
    runs: [`git init -q e; mv e/.git data; printf "${EVIL_CONFIG}" >data/config; mkdir r; ln -s ../data r/.git`],
    host: 'git -C r status',
  },
  {
    title: 'a repository in a directory that was closed',
    runs: [`git init -q x/r; printf "${EVIL_CONFIG}" >x/r/.git/config; chmod 000 x`],
    host: 'chmod 700 x; git -C x/r status',
  },
  {
    title: 'the same configuration under a second name',
    runs: [`git init -q r; ln r/.git/config other`, `printf "${EVIL_CONFIG}" >other`],
    host: 'git -C r status',
  },
];

describe('SEC-2.3 a file that a run planted does not run at the person’s next git command', () => {
  test.each(ATTACKS)('$title', async ({ runs, host }) => {
    const guard = bench.guard();
    await guard.protection();
    for (const run of runs) {
      letTimePass();
      await bench.run(guard, withPayload(run));
    }
    bench.try(host);
    expect(existsSync(marker)).toBe(false);
  });

  test.each(ATTACKS)('and without the guard it does: $title', ({ runs, host }) => {
    for (const run of runs) bench.sh(withPayload(run));
    bench.try(host);
    expect(existsSync(marker)).toBe(true);
  });

  function withPayload(script: string): string {
    return `PAYLOAD=${payload}; ${script}`;
  }
});

describe('honest work stays', () => {
  test.each([
    [
      'init',
      'git init -q r && echo 1 >r/f && git -C r add f && git -C r commit -qm x',
      'git -C r log --format=%s',
      'x\n',
    ],
    ['clone', 'git clone -q . known/r', 'git -C known/r remote get-url origin && git -C known/r status --short', null],
    [
      'clone --bare and --mirror',
      'git clone -q --bare . b.git; git clone -q --mirror . m',
      'git -C b.git log --format=%s; git -C m log --format=%s',
      'one\none\n',
    ],
    [
      'worktree',
      'git worktree add -q -b side known/wt',
      'git -C known/wt log --format=%s && git -C known/wt status --short',
      'one\n',
    ],
    [
      'worktree of a new repository',
      'git clone -q . r; git -C r worktree add -q ../wt',
      'git -C wt log --format=%s',
      'one\n',
    ],
    [
      'submodule',
      'git init -q r && cd r && git -c protocol.file.allow=always submodule add -q ../ sub && git commit -qm s',
      'git -C r submodule status | wc -l; git -C r/sub log --format=%s',
      '1\none\n',
    ],
    ['--separate-git-dir', 'git init -q --separate-git-dir=known/data r', 'git -C r status --short', ''],
    ['sparse-checkout', 'git clone -q . r; git -C r sparse-checkout set x', 'git -C r sparse-checkout list', 'x\n'],
    [
      'work in the root’s repository',
      'echo 2 >>f; git commit -qam two; git checkout -qb topic; git gc -q; git stash list',
      'git log --format=%s',
      'two\none\n',
    ],
  ])('git %s', async (_title, run, host, expected) => {
    const guard = bench.guard();
    const report = await bench.run(guard, run);
    expect(report).toEqual({ quarantined: [], complete: true });
    const out = bench.sh(host);
    if (expected !== null) expect(out).toBe(expected);
    await guard.protection();
    expect((await bench.run(guard, 'true')).quarantined).toEqual([]);
  });

  test('a repository still works if only its hooks were moved aside', async () => {
    const guard = bench.guard();
    const report = await bench.run(guard, `git clone -q . r; cp ${payload} r/.git/hooks/pre-commit`);
    expect(report.quarantined).toEqual(['r/.git/hooks']);
    bench.sh('cd r && echo 2 >>f && git commit -qam two && git log --format=%s');
    expect(existsSync(marker)).toBe(false);
  });
});

/** Runs a script with the mounts of a protection, over a read-only view of the machine. */
function runMounted(protection: Protection, script: string): { out: string; err: string } {
  const args = [
    '--unshare-user',
    '--unshare-pid',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--bind',
    bench.workspace,
    bench.workspace,
    ...protection.mounts.flatMap(renderMount),
    '--chdir',
    bench.workspace,
    'bash',
    '-c',
    script,
  ];
  const env = { PATH: '/usr/bin:/bin', LANG: 'C' };
  const done = spawnSync('bwrap', args, { encoding: 'utf8', env });
  return { out: done.stdout, err: done.stderr };
}

function renderMount(mount: Mount): string[] {
  switch (mount.kind) {
    case 'bind':
    case 'ro-bind':
      return [`--${mount.kind}`, mount.source, mount.dest];
    case 'tmpfs':
      return ['--size', String(mount.sizeBytes), '--tmpfs', mount.dest];
    default:
      return [`--${mount.kind}`, 'dest' in mount ? mount.dest : ''];
  }
}

const bubblewrapWorks = spawnSync('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']).status === 0;
if (!bubblewrapWorks)
  console.warn('not run: the mounts of the guard in a real sandbox, for want of a working bubblewrap');

describe.runIf(bubblewrapWorks)('in a real sandbox', () => {
  test('SEC-2.3 nested repositories can be used but not redirected', async () => {
    bench.sh(
      'git clone -q . known/r && git -C known/r worktree add -q ../wt && mkdir -p pkg/.vscode && touch pkg/.envrc',
    );
    const guard = bench.guard();
    const protection = await guard.protection();
    const watch = guard.begin(protection);
    const { out, err } = runMounted(
      protection,
      [
        'git -C known/r -c user.name=a -c user.email=a commit -q --allow-empty -m two && git -C known/wt log --format=%s',
        'echo x >>known/r/.git/config',
        ': >known/r/.git/hooks/post-checkout',
        'mv known/r/.git known/r/g',
        'mv known k2',
        'echo x >known/wt/.git',
        'echo x >known/r/.git/worktrees/wt/commondir',
        ': >pkg/.vscode/x',
        'echo x >pkg/.envrc',
        'mv pkg p2 && echo moved',
      ].join('\n'),
    );
    expect(out).toBe('one\nmoved\n');
    expect(err.match(/Read-only file system/g)).toHaveLength(6);
    expect(err.match(/Device or resource busy/g)).toHaveLength(2);
    expect(await guard.finish(watch)).toEqual({ quarantined: [], complete: true });
    expect(existsSync(join(bench.workspace, 'p2/.envrc'))).toBe(true);
  });

  test('SEC-2.3 what a deny glob matches cannot be seen, read, listed, written or moved away', async () => {
    bench.sh(
      'mkdir -p secrets/deep conf && echo top >k.pem && echo top >secrets/deep/x && echo top >conf/token && touch k.txt',
    );
    const protection = await bench.guard(['*.pem', 'secrets', 'conf/token']).protection();
    const { out, err } = runMounted(
      protection,
      'cat k.pem; ls -A secrets; cat conf/token; echo x >k.pem; : >secrets/y; mv k.pem z; mv conf c2; ln conf/token l; ls k.txt',
    );
    expect(out).toBe('k.txt\n');
    expect(err.match(/k\.pem: Permission denied/g)).toHaveLength(2);
    expect(err).toContain('conf/token: Permission denied');
    expect(err).toContain('secrets/y: Read-only file system');
    expect(err).toContain("cannot move 'k.pem' to 'z': Device or resource busy");
    expect(err).toContain("cannot move 'conf' to 'c2': Device or resource busy");
    expect(err).toContain("failed to create hard link 'l'");
    expect(bench.sh('cat k.pem secrets/deep/x conf/token')).toBe('top\ntop\ntop\n');
  });

  test('a mount over nothing leaves nothing behind', async () => {
    mkdirSync(join(bench.workspace, 'd'));
    bench.sh('git -C d init -q && touch d/k.pem');
    const protection = await bench.guard(['*.pem']).protection();
    const before = bench.sh('find . -not -path "./.git/*" | sort');
    runMounted(protection, 'true');
    expect(bench.sh('find . -not -path "./.git/*" | sort')).toBe(before);
  });
});
