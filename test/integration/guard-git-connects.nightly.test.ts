import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HARMLESS_KEYS } from '#src/guard/git/config-keys.js';
import { type ConnectionCounter, countConnections } from '../helpers/connection-counter.ts';
import { type Bench, GIT_ENV, letTimePass, openBench } from '../helpers/workspace-bench.ts';

let bench: Bench;
let counter: ConnectionCounter;
beforeEach(async () => {
  bench = openBench();
  counter = await countConnections();
  bench.sh('git init -q -b main . && echo 1 >f && git add f && git commit -qm one');
});
afterEach(async () => {
  await counter.close();
  bench.close();
});

/** Commands of a person, and of a prompt, that ask for no transfer. */
const EVERYDAY = [
  'status',
  'log -p',
  'diff HEAD',
  'diff --cached',
  'show',
  'blame f',
  'branch -vv',
  'describe --always',
  'add -A',
  'stash',
  'commit --allow-empty -m x',
  'checkout -B y',
  'rebase HEAD~1',
  'reset --hard',
  'merge y',
  'gc --auto',
  'submodule status',
  'tag t',
];

/** Runs git of the person without blocking the counter. Failures are ignored. */
async function useGit(dir: string, commands: readonly string[] = EVERYDAY): Promise<void> {
  const script = commands.map((command) => `git ${command} </dev/null >/dev/null 2>&1`).join('\n');
  const env = { PATH: '/usr/bin:/bin', ...GIT_ENV, GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true' };
  const cwd = join(bench.workspace, dir);
  await once(spawn('sh', ['-c', script], { cwd, env, stdio: 'ignore' }), 'exit');
}

/** A submodule of the root with these settings and a file whose content is missing. */
function nestedWith(name: string, settings: string): string {
  return `git init -q -b main ${name} && cd ${name} && echo 1 >f && echo ${name} >g && git add . &&
git commit -qm one && echo 2 >>f && git commit -qam two && blob=$(git rev-parse HEAD:g) &&
rm -f .git/objects/\${blob%\${blob#??}}/\${blob#??} && printf '${settings}' >>.git/config && cd .. &&
git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),${name}
`;
}

const SUBSECTIONS: Readonly<Record<string, string>> = { remote: 'origin', branch: 'main', submodule: 's', lfs: 'x' };
/** Values with which a key does most; `true` for the others. */
const VALUES: Readonly<Record<string, string>> = {
  'core.repositoryformatversion': '0',
  'core.sharedrepository': '0600',
  'core.commentchar': '%%',
  'core.whitespace': 'trailing-space',
  'core.eol': 'lf',
  'diff.submodule': 'log',
  'maintenance.strategy': 'incremental',
  'gc.auto': '1',
  'gc.autopacklimit': '1',
  'fetch.recursesubmodules': 'yes',
  'push.recursesubmodules': 'on-demand',
  'blame.ignorerevsfile': '',
  'branch.*.merge': 'refs/heads/main',
  'branch.*.remote': 'origin',
  'submodule.*.update': 'checkout',
  'submodule.*.path': 'g',
  'submodule.active': '.',
  'pull.twohead': 'ort',
  'pull.octopus': 'octopus',
  'diff.algorithm': 'patience',
  'merge.conflictstyle': 'diff3',
  'log.date': 'iso',
  'index.version': '4',
  'diff.context': '3',
  'fetch.parallel': '2',
  'submodule.fetchjobs': '2',
  'pack.threads': '2',
  'merge.log': '2',
  'pack.windowmemory': '1m',
  'http.postbuffer': '1m',
  'core.compression': '1',
  'core.bigfilethreshold': '1m',
  'gc.pruneexpire': 'never',
  'gc.reflogexpire': 'never',
  'status.showuntrackedfiles': 'all',
  'pull.rebase': 'true',
  'diff.colormoved': 'zebra',
  'diff.renames': 'copies',
  'push.default': 'current',
  'rebase.backend': 'merge',
  'branch.autosetuprebase': 'always',
  'branch.autosetupmerge': 'always',
  'core.abbrev': '12',
  'core.bare': 'false',
  'commit.gpgsign': 'false',
  'tag.gpgsign': 'false',
};

/** Repositories among which the keys are distributed. */
const GROUPS = 8;

function entryFor(key: string): string {
  const [section = '', ...rest] = key.split('.');
  const name = rest.pop() ?? '';
  const header = rest.length === 0 ? section : `${section} "${SUBSECTIONS[section] ?? 'x'}"`;
  const use = HARMLESS_KEYS.get(key);
  const value = VALUES[key] ?? (use === 'address' ? `git://127.0.0.1:${counter.port}/${key}` : 'true');
  return `[${header}]\\n\\t${name} = ${value}\\n`;
}

const REMOTE = (): string =>
  `[remote "origin"]\\n\\turl = git://127.0.0.1:${counter.port}/origin\\n\\tfetch = +refs/heads/*:refs/remotes/origin/*\\n`;

describe('SEC-2.3 git of the host connects only if a person asks for a transfer', () => {
  test('no key that a call may leave makes it connect in an everyday command', async () => {
    // An extension names the format of the repository: git refuses one of another format.
    const keys = [...HARMLESS_KEYS.keys()].filter((key) => !key.startsWith('extensions.'));
    const groups = Array.from({ length: GROUPS }, (_, at) => keys.filter((_key, position) => position % GROUPS === at));
    const entries = (group: readonly string[]) => group.map(entryFor).join('');
    bench.sh(groups.map((group, at) => nestedWith(`n${at}`, `${REMOTE()}${entries(group)}`)).join('\n'));
    await useGit('.');
    for (const [at, group] of groups.entries()) {
      expect(bench.sh(`git -C n${at} status --porcelain`)).toBe('');
      await useGit(`n${at}`);
      expect(counter.requests, group.join(' ')).toEqual([]);
    }
    await useGit('n0', ['fetch']);
    expect(counter.requests).toHaveLength(1);
  });

  test.each([
    ['remote "origin"', 'promisor = true'],
    ['remote "origin"', 'promisor'],
    ['REMOTE "origin"', 'PartialCloneFilter = blob:none'],
    ['core', 'repositoryformatversion = 1\\n[extensions]\\n\\tpartialClone = origin'],
  ])('a repository with [%s] %s makes it connect, and is disarmed', async (section, entry) => {
    const script = nestedWith('n', `${REMOTE()}[${section}]\\n\\t${entry}\\n`);
    bench.sh(script);
    await useGit('.', ['-C n log -p']);
    expect(counter.requests.length).toBeGreaterThan(0);

    const before = counter.requests.length;
    bench.sh('rm -rf n');
    const guard = bench.guard();
    const watch = guard.begin(await guard.protection());
    bench.sh(script);
    const { quarantined } = await guard.finish(watch);
    expect(quarantined.find(({ path }) => path === 'n/.git/config')?.reason).toContain('connect to other hosts');
    await useGit('.');
    await useGit('n');
    expect(counter.requests).toHaveLength(before);
  });

  test('status of the project connects through a submodule whose commit is missing, and does not after the search', async () => {
    const script = `${nestedWith('n', `${REMOTE()}\\tpromisor = true\\n`)}
      git -C n update-ref --no-deref HEAD HEAD; printf '%s\\n' 0123456789012345678901234567890123456789 >n/.git/HEAD`;
    bench.sh(script);
    await useGit('.', ['status']);
    expect(counter.requests.join()).toContain('git-upload-pack');
    const before = counter.requests.length;
    bench.sh('rm -rf n');
    const guard = bench.guard();
    const watch = guard.begin(await guard.protection());
    bench.sh(script);
    await guard.finish(watch);
    await useGit('.', ['status']);
    expect(counter.requests).toHaveLength(before);
  });

  test('the server of Git LFS, which a checkout asks for files, is not a call’s to name', async () => {
    const report = await bench.run(bench.guard(), 'printf "[lfs]\\n\\turl = https://example.com/a\\n" >.lfsconfig');
    expect(report.quarantined).toEqual(['.lfsconfig']);
  });

  test('a partial clone that a call makes works again when a person accepts its configuration', async () => {
    bench.sh('git config uploadpack.allowFilter true && git config uploadpack.allowAnySHA1InWant true');
    const guard = bench.guard();
    const watch = guard.begin(await guard.protection());
    bench.sh('git clone -q --no-local --filter=blob:none --no-checkout "file://$PWD" part');
    const { quarantined } = await guard.finish(watch);
    expect(quarantined.map(({ path }) => path)).toEqual(['part/.git/config']);
    letTimePass();
    const id = quarantined[0]?.id ?? '';
    const { items } = await guard.quarantine({ kind: 'list', which: id });
    await guard.quarantine({ kind: 'accept', which: id, sha256: items[0]?.sha256 ?? '' });
    expect((await bench.run(guard, 'git -C part checkout -q main && cat part/f')).quarantined).toEqual([]);
    expect(existsSync(join(bench.workspace, 'part/f'))).toBe(true);
    expect(bench.sh('git -C part status --porcelain')).toBe('');
  });
});

describe('SEC-2.3 a repository on this machine that a configuration names is in the project', () => {
  /** Outside of the project, with a hook that runs when a person pushes to it. */
  const TRAP = `git init -q --bare "$OUT/trap.git"; printf '#!/bin/sh\\n:>"%s"\\n' "$OUT/ran" >"$OUT/trap.git/hooks/pre-receive"
chmod 755 "$OUT/trap.git/hooks/pre-receive"`;

  function settled(script: string): string {
    return `OUT=${bench.base}; ${script}`;
  }

  test.each([
    ['an absolute path', 'git -C n remote add o "$OUT/trap.git"'],
    ['a path without its suffix', 'git -C n remote add o "$OUT/trap"'],
    ['a relative path', 'git -C n remote add o ../../trap.git'],
    ['a file URL', 'git -C n remote add o "file://$OUT/trap.git"'],
    ['a file URL with escapes', 'git -C n remote add o "file://%2f$OUT/w/%2e%2e/trap%2egit"'],
    [
      'an address for pushes',
      'git -C n remote add o https://example.com/a; git -C n config remote.o.pushurl "$OUT/trap.git"',
    ],
    [
      'the remote of a branch',
      'git -C n config branch.main.remote "$OUT/trap.git"; git -C n config branch.main.merge refs/heads/main',
    ],
    ['the remote for pushes of a branch', 'git -C n config branch.main.pushRemote "$OUT/trap.git"'],
    ['the remote for pushes', 'git -C n config remote.pushDefault "$OUT/trap.git"'],
    [
      'the name of a remote',
      'printf "[remote \\"$OUT/trap.git\\"]\\n\\ttagOpt = --tags\\n[remote]\\n\\tpushDefault = $OUT/trap.git\\n" >>n/.git/config',
    ],
    ['a link in the project', 'ln -s "$OUT" way; git -C n remote add o "$PWD/way/trap.git"'],
    ['a link behind a suffix', 'ln -s "$OUT/trap.git" near.git; git -C n remote add o "$PWD/near"'],
    ['a .git file of another name', 'echo "gitdir: $OUT/trap.git" >near; git -C n remote add o "$PWD/near"'],
  ])('%s that leads out runs a hook at push, and is disarmed', async (_title, script) => {
    const make = settled(`git init -q -b main n; git -C n commit -q --allow-empty -m x; ${script}`);
    const push =
      'set +e; git -C n push -q o HEAD:refs/heads/a 2>&1; git -C n push -q 2>&1; git -C n push -q "$(git -C n config remote.pushDefault)" HEAD:b 2>&1';
    bench.sh(settled(TRAP));
    bench.sh(make);
    bench.try(`git -C n config push.default current; ${push}`);
    expect(existsSync(join(bench.base, 'ran'))).toBe(true);

    bench.sh('rm -rf ../ran n way near near.git');
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    expect((await bench.run(guard, make)).quarantined).toContain('n/.git/config');
    bench.try(`git -C n config push.default current; ${push}`);
    expect(existsSync(join(bench.base, 'ran'))).toBe(false);
  });

  test.each([
    ['an absolute path', 'git clone -q . n'],
    ['a path that does not exist yet', 'git init -q n; git -C n remote add o "$PWD/later.git"'],
    ['a file URL', 'git init -q n; git -C n remote add o "file://$PWD/a%20b"'],
    ['a path below its worktree', 'git init -q n; git -C n remote add o ./deeper/a.git'],
    [
      'addresses of hosts',
      'git init -q n; git -C n remote add o git@example.com:a.git; git -C n remote add p https://example.com/a',
    ],
  ])('%s that stays in it is left alone', async (_title, script) => {
    expect((await bench.run(bench.guard(), script)).quarantined).toEqual([]);
  });

  test('a link that a later call makes on the way of an accepted address is moved aside', async () => {
    bench.sh(settled(TRAP));
    const guard = bench.guard();
    expect((await bench.run(guard, 'git init -q n; git -C n remote add o "$PWD/way/trap.git"')).quarantined).toEqual(
      [],
    );
    letTimePass();
    expect((await bench.run(guard, settled('ln -s "$OUT" way'))).quarantined).toEqual(['way']);
  });

  test('what a person’s own configuration names may be anywhere, also when it changes during a call', async () => {
    bench.sh(
      settled(
        `${TRAP}; ln -s trap.git "$OUT/alias"; git remote add o "$OUT/alias"; git init -q n; git -C n remote add o "$OUT/alias"`,
      ),
    );
    const guard = bench.guard();
    await guard.protection();
    letTimePass();
    expect((await bench.run(guard, settled('ln -sfn elsewhere "$OUT/alias"'))).quarantined).toEqual([]);
  });
});

describe('SEC-2.3 git reads objects only in the project', () => {
  test.each([
    ['an absolute path', 'echo "$OUT/far/.git/objects" >n/.git/objects/info/alternates'],
    ['a relative path', 'echo ../../../../far/.git/objects >n/.git/objects/info/alternates'],
    ['a quoted path', 'printf "\\"%s\\"\\n" "$OUT/far/.git/objects" >n/.git/objects/info/alternates'],
    [
      'a second line',
      'printf "%s\\n%s\\n" "$PWD/.git/objects" "$OUT/far/.git/objects" >n/.git/objects/info/alternates',
    ],
    ['a link on the way', 'ln -s "$OUT/far" way; echo "$PWD/way/.git/objects" >n/.git/objects/info/alternates'],
    [
      'the alternates of a directory that is no repository',
      'mkdir -p o/info; echo "$OUT/far/.git/objects" >o/info/alternates; echo "$PWD/o" >n/.git/objects/info/alternates',
    ],
  ])('%s that leads out is set aside', async (_title, script) => {
    bench.sh('git init -q ../far; git -C ../far commit -q --allow-empty -m far');
    const report = await bench.run(bench.guard(), `OUT=${bench.base}; git init -q n; ${script}`);
    expect(report.quarantined).toEqual(['n/.git/objects/info/alternates']);
  });

  test('alternates of the project stay, until a later call makes them lead out', async () => {
    const guard = bench.guard();
    expect(
      (await bench.run(guard, 'git clone -qs . n; mkdir -p o/info; echo "$PWD/o" >>n/.git/objects/info/alternates'))
        .quarantined,
    ).toEqual([]);
    letTimePass();
    expect((await bench.run(guard, 'echo "$PWD/../far" >o/info/alternates')).quarantined).toEqual([
      'n/.git/objects/info/alternates',
    ]);
  });
});
