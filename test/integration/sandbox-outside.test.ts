import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

describe.each(usualWho())('what lies outside the workspace, %s', (who) => {
  let bench: Bench;
  let proxy: string;
  beforeAll(async () => {
    bench = await openBench(who);
    proxy = join(bench.base, 'install', 'bin', 'contextd-proxy');
    mkdirSync(dirname(proxy), { recursive: true });
    writeFileSync(proxy, 'of the host', { mode: 0o755 });
  });
  afterAll(() => bench.close());

  test('is read-only also if the workspace lies below /tmp, so that no write is lost, and is reported', async () => {
    const beside = join(bench.base, 'out.txt');
    for (const script of ['echo hi >../out.txt', `echo hi >${beside}`, 'mkdir ../wt', 'cd .. && touch x']) {
      const { exitCode, err } = await bench.bash(script);
      expect([script, exitCode, err]).toEqual([script, 1, expect.stringContaining('Read-only file system')]);
    }
    const { denied } = await bench.bash('echo hi >../out.txt');
    expect(denied).toMatchObject([{ kind: 'read_only', path: beside }]);
    expect(existsSync(beside)).toBe(false);
    const scratch = await bench.bash('echo hi >/tmp/x && echo hi >~/x && cat /tmp/x ~/x');
    expect(scratch).toMatchObject({ exitCode: 0, out: 'hi\nhi\n', denied: [] });
  });

  test('SEC-2.3 /etc has what installed programs need, and nothing that could be secret', async () => {
    const { out } = await bench.bash('find -L /etc -type f | xargs grep -l "PRIVATE KEY-----"; true');
    expect(out).toBe('');
    const secret = ['shadow', 'gshadow', 'sudoers', 'ssh/ssh_host_ed25519_key', 'machine-id', 'fstab', 'environment'];
    const seen = await bench.bash(secret.map((name) => `ls -d /etc/${name}`).join('; '));
    expect(seen.out).toBe('');
    const needed = await bench.bash('perl -MCPAN -e 1 && ls -d /etc/ssl/certs /etc/alternatives && cat /etc/passwd');
    expect(needed).toMatchObject({ exitCode: 0, out: expect.stringMatching(/^sandbox:x:\d+:/m) });
  });

  test('an allowed directory is written and watched like the workspace, and nothing else beside it', async () => {
    const allowed = join(bench.base, 'wt');
    makeOwned(allowed);
    const allow = { allowedPaths: [allowed] };
    bench.host('git init -q . && git commit -q --allow-empty -m first');
    const added = await bench.bash(
      'git worktree add -q ../wt && cd ../wt && echo hi >file && git status -s',
      {},
      allow,
    );
    expect(added).toMatchObject({ exitCode: 0, out: '?? file\n' });
    expect(readdirSync(allowed).sort()).toEqual(['.git', 'file']);
    expect((await bench.bash('echo hi >../other', {}, allow)).err).toContain('Read-only file system');
    const before = await bench.bash('echo hi >../wt/file');
    expect(before).toMatchObject({ exitCode: 1, err: expect.stringContaining('No such file or directory') });

    const { quarantined } = await bench.bash('echo "touch /tmp/x" >../wt/.envrc; mkdir ../wt/.claude', {}, allow);
    expect(quarantined).toEqual([join(allowed, '.claude'), join(allowed, '.envrc')]);
    expect(readdirSync(allowed)).not.toContain('.envrc');
    const { items } = await bench.sandbox.quarantine(bench.policy(allow), { kind: 'list', which: null });
    const item = items.find(({ path }) => path === join(allowed, '.envrc'));
    await bench.sandbox.quarantine(bench.policy(allow), { kind: 'restore', which: item?.id ?? '' });
    const again = await bench.bash('echo evil >../wt/.envrc', {}, allow);
    expect(again.denied).toMatchObject([{ kind: 'read_only', path: join(allowed, '.envrc') }]);
  });

  test('an allowed directory that became a link or is gone is not mounted', async () => {
    const secret = join(bench.base, 'secret');
    const allowed = join(bench.base, 'allowed');
    for (const path of [secret, allowed]) makeOwned(path);
    writeFileSync(join(secret, 'key'), 'secret', { mode: 0o644 });
    const allow = { allowedPaths: [allowed] };
    expect((await bench.bash('echo hi >../allowed/x', {}, allow)).exitCode).toBe(0);
    renameSync(allowed, `${allowed}.old`);
    expect((await bench.bash('ls ../allowed', {}, allow)).exitCode).toBe(2);
    symlinkSync(secret, allowed);
    const { out, exitCode } = await bench.bash('cat ../allowed/key', {}, allow);
    expect({ out, exitCode }).toEqual({ out: '', exitCode: 1 });
  });

  test('toolchains are read-only, on PATH in the person’s order, with their variables and without credentials', async () => {
    const tools = join(bench.base, 'closed', 'tools');
    mkdirSync(join(tools, 'bin'), { recursive: true });
    mkdirSync(join(tools, 'etc'));
    chmodSync(join(bench.base, 'closed'), 0o700);
    writeFileSync(join(tools, 'bin', 'mytool'), '#!/bin/sh\necho "ran in $MY_HOME"\n', { mode: 0o755 });
    writeFileSync(join(tools, 'etc', 'npmrc'), '_authToken=x', { mode: 0o644 });
    const other = join(bench.base, 'other-tools');
    mkdirSync(other);
    writeFileSync(join(other, 'unmounted'), '#!/bin/sh\n', { mode: 0o755 });
    const toolchains = {
      mounts: [tools, join(bench.base, 'gone')],
      hidden: [join(tools, 'etc', 'npmrc')],
      path: ['/usr/local/sbin', join(tools, 'bin'), other, '/usr/bin'],
      variables: { MY_HOME: tools },
      hostPath: [join(tools, 'bin'), other],
    };
    const { out, err } = await bench.bash(
      `mytool; cat ${tools}/etc/npmrc; : >${tools}/x; echo $PATH`,
      {},
      { toolchains },
    );
    const standard = '/usr/local/bin:/usr/sbin:/sbin:/bin';
    expect(out).toBe(`ran in ${tools}\n/usr/local/sbin:${tools}/bin:/usr/bin:${standard}\n`);
    expect(err).toContain('Read-only file system');
    const missing = await bench.bash('unmounted', {}, { toolchains });
    expect(missing.denied).toMatchObject([{ kind: 'program', path: join(other, 'unmounted') }]);
    expect((await bench.bash('no-such-program', {}, { toolchains })).denied).toEqual([]);
  });

  test('the place of the proxy holds a program that says why a command cannot call a tool', async () => {
    bench.host(`ln -s ${proxy} safe_bash`);
    const { exitCode, err } = await bench.bash('./safe_bash x; s=$?; ! echo x >>safe_bash 2>/dev/null && exit $s');
    expect([exitCode, err]).toEqual([2, expect.stringContaining('run the command itself')]);
  });

  test('SEC-2.3 a toolchain in a writable tree, or one that became a link, is not mounted', async () => {
    const secret = join(bench.base, 'keys');
    mkdirSync(secret);
    writeFileSync(join(secret, 'key'), 'secret', { mode: 0o644 });
    const tools = join(bench.base, 'tools');
    symlinkSync(secret, tools);
    bench.host(`ln -s ${secret} tools`);
    const mounts = [tools, join(bench.workspace, 'tools')];
    const toolchains = { mounts, hidden: [], path: [], variables: {}, hostPath: [] };
    expect((await bench.bash(`cat ${tools}/key tools/key; true`, {}, { toolchains })).out).toBe('');
    const listed = bench.bash('true', {}, { roPaths: [join(bench.workspace, 'tools')] });
    await expect(listed).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });

  /** A directory of the workspace's owner. */
  function makeOwned(path: string): void {
    mkdirSync(path);
    const { uid, gid } = lstatSync(bench.workspace);
    chownSync(path, uid, gid);
  }
});
