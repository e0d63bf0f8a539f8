import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

describe.each(whoCanRun())('an isolated command, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  afterAll(() => bench.close());

  test('the probe really ran a sandbox and reports what it found', async () => {
    const machine = await bench.sandbox.probe();
    expect(machine).toMatchObject({ backend: 'bubblewrap', version: expect.stringMatching(/^\d+\.\d+/) });
    const report = await bench.sandbox.isolationFor(bench.workspace);
    if (who === 'root-owned workspace') {
      expect(report.level).toBe('reduced');
      expect(report.missing).toEqual(['an unprivileged user inside (the workspace belongs to root)']);
      expect(report.remedy).toContain('chown -R USER');
    } else {
      expect(['full', 'reduced']).toContain(report.level);
      expect(report.missing.length === 0).toBe(report.level === 'full');
    }
  });

  test('SEC-2.3 every namespace is its own, and none can be made inside', async () => {
    const names = ['user', 'pid', 'net', 'mnt', 'ipc', 'uts', 'cgroup'];
    const { out } = await bench.bash(`for n in ${names.join(' ')}; do readlink /proc/self/ns/$n; done`);

    const hosts = names.map((name) => readlinkSync(`/proc/self/ns/${name}`));
    const inside = out.trim().split('\n');
    expect(inside).toHaveLength(names.length);
    for (const name of inside) expect(hosts).not.toContain(name);
    const nested = await bench.bash('unshare -Ur true; echo "rc=$?"; bwrap --ro-bind / / true; echo "rc=$?"');
    expect(nested.out).not.toContain('rc=0');
  });

  test('SEC-2.3 has no capability and can get no new privileges', async () => {
    const { out } = await bench.bash('grep -E "^(Cap|NoNewPrivs)" /proc/self/status');
    expect(out.match(/^Cap\w+:\t0{16}$/gm)).toHaveLength(5);
    expect(out).toContain('NoNewPrivs:\t1');
  });

  test('SEC-2.4 reaches no network: not the internet, the host’s loopback or its abstract sockets', async () => {
    const server = createServer((socket) => socket.end('reached'));
    const abstract = createServer((socket) => socket.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await new Promise<void>((resolve) => abstract.listen(`\0contextd-test-${process.pid}`, resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    try {
      const loopback = await bench.bash(`exec 5<>/dev/tcp/127.0.0.1/${port} && cat <&5`);
      expect(loopback).toMatchObject({ exitCode: 1, out: '' });
      expect(loopback.err).toContain('Connection refused');
      const internet = await bench.bash('exec 5<>/dev/tcp/1.1.1.1/80');
      expect(internet.err).toContain('Network is unreachable');
      const devices = await bench.bash('tail -n +3 /proc/net/dev | cut -d: -f1; getent hosts example.com; true');
      expect(devices.out.trim()).toBe('lo');
      const script = `import socket\ns=socket.socket(socket.AF_UNIX)\ns.connect("\\0contextd-test-${process.pid}")`;
      const unix = await bench.bash(`python3 -c '${script}'`);
      expect(unix.err).toContain('Connection refused');
    } finally {
      server.close();
      abstract.close();
    }
  });

  test('SEC-2.3 cannot read files of the host: a planted file, the home, the shadow file, the daemon’s files', async () => {
    const secret = join(bench.base, 'outside.txt');
    writeFileSync(secret, 'planted', { mode: 0o644 });
    const { out, err } = await bench.bash(
      `cat ${secret}; cat ../outside.txt; ls ${bench.base}; cat /etc/shadow /etc/machine-id /root/.profile; ls -A /home/sandbox /run /tmp/..`,
    );
    expect(out).not.toContain('planted');
    expect(out).toContain('workspace');
    expect(err).toContain(`${secret}: No such file or directory`);
    expect(err).toContain('/etc/shadow: No such file or directory');
    expect(err).toContain('/etc/machine-id: No such file or directory');
    const passwd = await bench.bash('cut -d: -f1 /etc/passwd; hostname; cat /etc/resolv.conf');
    expect(passwd.out).toBe('root\nsandbox\nnobody\nsandbox\n');
  });

  test('SEC-2.3 nothing outside the workspace can be written, and what is written elsewhere does not stay', async () => {
    const { err } = await bench.bash(
      'for f in /x /usr/x /etc/x /opt/x /dev/x; do : >$f; done; : >/tmp/stays; : >~/stays',
    );
    expect(err.match(/Read-only file system|No such file or directory/g)).toHaveLength(5);
    const { out } = await bench.bash('ls -A /tmp ~; ls -d /tmp/stays');
    expect(out).not.toContain('stays');
  });

  test('SEC-2.3 cannot follow a symbolic link out of the workspace', async () => {
    const secret = join(bench.base, 'linked.txt');
    writeFileSync(secret, 'planted', { mode: 0o666 });
    symlinkSync(secret, join(bench.workspace, 'link'));
    symlinkSync(bench.base, join(bench.workspace, 'linkdir'));
    const { out } = await bench.bash(
      'cat link linkdir/linked.txt; ln -s / all; cat "all/$PWD/../linked.txt"; echo x >link',
    );
    expect(out).toBe('');
    expect(readFileSync(secret, 'utf8')).toBe('planted');
  });

  test('SEC-2.3 gets an environment built from nothing, also in /proc/1', async () => {
    process.env.CONTEXTD_TEST_LEAK = 'leak-of-the-daemon';
    try {
      const { out } = await bench.bash('env; cat /proc/*/environ /proc/*/cmdline | tr "\\0" "\\n"', {
        env: { GIVEN: 'yes' },
      });
      expect(out).not.toContain('leak-of-the-daemon');
      expect(out).not.toContain('--ro-bind');
      const names = (await bench.bash('env | cut -d= -f1 | sort | tr "\\n" " "', { env: { GIVEN: 'yes' } })).out;
      expect(names).toBe('GIVEN HOME LANG PATH PWD SHLVL TMPDIR _ ');
      const basics = (await bench.bash('echo "$HOME $TMPDIR $LANG"')).out;
      expect(basics).toBe('/home/sandbox /tmp C.UTF-8\n');
    } finally {
      delete process.env.CONTEXTD_TEST_LEAK;
    }
  });

  test('SEC-2.3 no process of the host can be seen or reached', async () => {
    const victim = spawn('sleep', ['60'], { stdio: 'ignore' });
    try {
      const { out } = await bench.bash(
        `ls /proc | grep -c "^[0-9]"; kill -0 ${victim.pid} && echo reached; kill -0 ${process.pid} && echo reached`,
      );
      expect(Number(out.split('\n')[0])).toBeLessThan(8);
      expect(out).not.toContain('reached');
    } finally {
      victim.kill();
    }
  });

  test('SEC-2.3 inherits no descriptor of the daemon, nor one that the daemon was started with', () => {
    const planted = join(bench.base, 'descriptor.txt');
    writeFileSync(planted, 'planted');
    const fd = openSync(planted, 'r');
    try {
      const program = fileURLToPath(new URL('../fixtures/sandbox-stray.ts', import.meta.url));
      const nine = [...Array(9).keys()].map((n) => (n < 3 ? 'pipe' : 'ignore'));
      const { stdout } = spawnSync(process.execPath, [program, who], { stdio: [...nine, fd], encoding: 'utf8' });
      const foreign = stdout
        .trim()
        .split('\n')
        .filter((line) => !/\/data\/sandbox\/pipes-\d+\/p|^\/proc\//.test(line));
      expect([...new Set(foreign)]).toEqual(['/dev/null']);
    } finally {
      closeSync(fd);
    }
  });

  test('SEC-2.3 cannot write the kernel’s settings', async () => {
    const files = [
      '/proc/sys/kernel/core_pattern',
      '/proc/sys/kernel/modprobe',
      '/proc/sys/vm/overcommit_memory',
      '/proc/sysrq-trigger',
    ];
    const { out, err } = await bench.bash(
      `for f in ${files.join(' ')}; do (exec 9>$f) && echo "open $f"; done; ls /sys`,
    );
    expect(out).toBe('');
    expect(err).toMatch(/core_pattern: (Read-only file system|Permission denied)/);
  });

  test('the workspace is read-write at its own path, and new files belong to its owner', async () => {
    const { out, exitCode } = await bench.bash('pwd; echo hello >file; cat file; stat -c %u file');
    const made = lstatSync(join(bench.workspace, 'file'));
    const workspace = lstatSync(bench.workspace);
    const uid = who === 'root-owned workspace' ? 1000 : workspace.uid;
    expect({ out, exitCode }).toEqual({ out: `${bench.workspace}\nhello\n${uid}\n`, exitCode: 0 });
    expect([made.uid, made.gid]).toEqual([workspace.uid, workspace.gid]);
  });

  test('read-only toolchains are mounted, come first on PATH, and cannot be written', async () => {
    const toolchain = join(bench.base, 'closed', 'toolchain');
    mkdirSync(join(toolchain, 'bin'), { recursive: true });
    writeFileSync(join(toolchain, 'bin', 'mytool'), '#!/bin/sh\necho ran\n', { mode: 0o755 });
    chmodSync(join(bench.base, 'closed'), 0o700);
    const { out, err } = await bench.bash(`mytool; : >${toolchain}/x`, {}, { roPaths: [toolchain] });
    expect(out).toBe('ran\n');
    expect(err).toContain('Read-only file system');
  });

  test('SEC-2.3 refuses a command on a branch whose files are gone: it must not write the base', async () => {
    const change = { workspace: { path: bench.workspace, layer: ['b'] } };
    await expect(bench.bash('touch ran', {}, change)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    expect(existsSync(join(bench.workspace, 'ran'))).toBe(false);
  });

  test('refuses a workspace in which contextd keeps its files, or which belongs to the system', async () => {
    for (const path of ['/', '/usr', '/etc', '/home', bench.base, join(bench.base, 'home')]) {
      await expect(bench.bash('true', {}, { workspace: { path, layer: null } })).rejects.toMatchObject({
        code: 'PATH_INVALID',
      });
    }
    await expect(
      bench.bash('true', {}, { workspace: { path: join(bench.base, 'none'), layer: null } }),
    ).rejects.toMatchObject({
      code: 'PATH_NOT_FOUND',
    });
  });
});

test.runIf(process.getuid?.() === 0)('refuses a workspace that its owner cannot reach, with the remedy', async () => {
  const bench = await openBench('workspace of uid 65534');
  try {
    chmodSync(bench.base, 0o700);
    await expect(bench.bash('true')).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: `the owner (uid 65534) of ${bench.workspace} cannot reach it`,
    });
  } finally {
    await bench.close();
  }
});
