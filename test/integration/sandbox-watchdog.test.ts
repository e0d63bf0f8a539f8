import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { judgeEnd } from '#src/sandbox/jail/command-end.js';
import { watchTree } from '#src/sandbox/jail/watchdog.js';
import { type Cgroups, openCgroups } from '#src/sandbox/machine/cgroup/cgroup.js';
import { perProcessLimits } from '#src/sandbox/machine/limits.js';
import { makeWorkspace, type PlainJail, startJail, systemMounts, whyNoJail } from '../fixtures/plain-jail.ts';

const MIB = 1024 * 1024;
const noJail = whyNoJail();
if (noJail !== null) console.warn(`SKIPPED: watchdog and total limits were not tried: ${noJail}`);

/** Starts `count` processes that hold 40 MiB each: tail keeps a line until the line ends. */
function hogs(count: number): string {
  return `for i in $(seq ${count}); do (head -c 40M /dev/zero; sleep 60) | tail -n 1 >/dev/null & done; wait`;
}

describe.skipIf(noJail !== null)('in a sandbox', () => {
  let place: ReturnType<typeof makeWorkspace>;
  let mounts: ReturnType<typeof systemMounts>;
  const started: PlainJail[] = [];
  beforeAll(() => {
    place = makeWorkspace();
    mounts = [...systemMounts(place.base), { kind: 'bind', source: place.workspace, dest: place.workspace }];
  });
  afterAll(async () => {
    for (const jail of started) jail.kill();
    await Promise.all(started.map((jail) => jail.exited));
    place.remove();
  });

  function start(script: string, prefix: readonly string[], joinFiles: readonly string[] = []): PlainJail {
    const jail = startJail({ script, mounts, cwd: place.workspace, prefix, joinFiles });
    started.push(jail);
    return jail;
  }

  /** Kills as contextd does and reports the reason. */
  function watch(jail: PlainJail, memoryBytes: number, pids: number): { told: string[]; over: AbortController } {
    const told: string[] = [];
    const over = new AbortController();
    const onExceeded = (what: string): void => {
      told.push(what);
      jail.kill();
    };
    watchTree({ rootPid: jail.pid, memoryBytes, pids, temporary: [], onExceeded, signal: over.signal });
    return { told, over };
  }

  const EACH = perProcessLimits({ memoryBytes: 96 * MIB, pids: 64, cpus: 0 }, false);

  test('SEC-2.5 the watchdog ends all processes if their memory together passes the limit', async () => {
    const jail = start(hogs(8), EACH);
    const { told } = watch(jail, 128 * MIB, 64);
    const exit = await jail.exited;
    expect(told).toEqual(['oom']);
    expect(existsSync(`/proc/${jail.pid}`)).toBe(false);
    const end = { exit: { ran: false, ...exit }, interruptedBy: 'oom', events: null, stderr: '', cwd: '/' } as const;
    expect(judgeEnd(end)).toEqual({ exitCode: null, signal: 'SIGKILL', endedBy: 'oom' });
  });

  test('SEC-2.5 the watchdog does not touch the same work within the limit', async () => {
    const jail = start(
      'for i in 1 2; do head -c 40M /dev/zero | tail -n 1 >/dev/null & done; wait; sleep 1; echo done',
      EACH,
    );
    const { told, over } = watch(jail, 128 * MIB, 64);
    expect((await jail.exited).code).toBe(0);
    over.abort();
    expect([told, jail.output.stdout]).toEqual([[], 'done\n']);
  });

  test('SEC-2.5 the watchdog ends a run with too many processes', async () => {
    const jail = start('for i in $(seq 12); do sleep 60 & done; wait', EACH);
    const { told } = watch(jail, 128 * MIB, 8);
    await jail.exited;
    expect(told).toEqual(['pids']);
  });

  test('SEC-2.5 a limit on processor time ends a process, and the answer names its signal', async () => {
    const prefix = perProcessLimits({ memoryBytes: 96 * MIB, pids: 64, cpus: 0.1 }, false, 10_000);
    const jail = start('while :; do :; done', prefix);
    const { code } = await jail.exited;
    const end = { exit: { ran: true, code, signal: null }, interruptedBy: null, events: null, stderr: '', cwd: '/' };
    expect(judgeEnd(end)).toEqual({ exitCode: 152, signal: 'SIGXCPU', endedBy: 'signal' });
  });

  describe('with cgroups', () => {
    let cgroups: Cgroups | null = null;
    beforeAll(async () => {
      cgroups = await openCgroups(silentLogger, { memoryBytes: 96 * MIB, pids: 40 });
      if (cgroups === null)
        console.warn('SKIPPED: limits on all sandboxes together were not tried: no writable cgroup');
    });
    afterAll(async () => {
      await cgroups?.stop();
    });

    const EACH_GROUP = { memoryBytes: 90 * MIB, pids: 36, cpus: 0 };

    test('SEC-2.5 all sandboxes together are bounded in memory, and the sandbox that lost a process reports it', async () => {
      if (cgroups === null) return;
      const groups = [cgroups.create(EACH_GROUP), cgroups.create(EACH_GROUP)];
      expect(cgroups.totals()).toMatchObject({ memoryMaxBytes: 96 * MIB, pidsMax: 40 });
      const jails = groups.map((group) => start(hogs(2), [], group.joinFiles));
      const kills = (): number => groups.reduce((sum, group) => sum + group.events().oomKills, 0);
      await expect.poll(kills, { timeout: 20_000 }).toBeGreaterThan(0);
      expect(cgroups.totals().memoryBytes).toBeLessThanOrEqual(96 * MIB);
      for (const jail of jails) jail.kill();
      await Promise.all(jails.map((jail) => jail.exited));
      for (const group of groups) cgroups.remove(group);
    });

    test('SEC-2.5 all sandboxes together are limited in processes', async () => {
      if (cgroups === null) return;
      const groups = [cgroups.create(EACH_GROUP), cgroups.create(EACH_GROUP)];
      const crowd = `perl -e '$| = 1; for (1..24) { $p = fork; if (!defined $p) { print "refused\\n"; sleep 60 } if (!$p) { sleep 60; exit } } print "all\\n"; sleep 60'`;
      const first = start(crowd, [], groups[0]?.joinFiles);
      await expect.poll(() => first.output.stdout, { timeout: 20_000 }).toBe('all\n');
      const path = readFileSync(`/proc/${first.pid}/cgroup`, 'utf8');
      expect(path).toMatch(new RegExp(`/contextd-${process.pid}-[0-9a-f]{20}/\\d+`));
      const second = start(crowd, [], groups[1]?.joinFiles);
      await expect.poll(() => second.output.stdout, { timeout: 20_000 }).toBe('refused\n');
      expect(cgroups.totals().pids).toBe(40);
      for (const jail of [first, second]) jail.kill();
      await Promise.all([first.exited, second.exited]);
      for (const group of groups) cgroups.remove(group);
    });

    test('SEC-2.5 the limits of a ready group are changed before it is used', async () => {
      if (cgroups === null) return;
      const group = cgroups.create(EACH_GROUP);
      const jail = start(
        `read -r line </proc/self/cgroup; sleep 0.1; head -c 40M /dev/zero | tail -n 1 >/dev/null; echo $?`,
        [],
        group.joinFiles,
      );
      cgroups.setLimits(group, { ...EACH_GROUP, memoryBytes: 24 * MIB });
      const { code, signal } = await jail.exited;
      const end = {
        exit: { ran: code !== null, code, signal },
        interruptedBy: null,
        events: group.events(),
        stderr: '',
        cwd: '/',
      };
      expect(judgeEnd(end).endedBy).toBe('oom');
      cgroups.remove(group);
    });

    test('SEC-2.5 the next spawner kills and removes what a killed spawner left behind', async () => {
      if (cgroups === null) return;
      const { pid, dirs } = await leaveBehind();
      expect(dirs.every((dir) => existsSync(dir))).toBe(true);
      const next = await openCgroups(silentLogger, { memoryBytes: 96 * MIB, pids: 40 });
      await next?.stop();
      expect(dirs.filter((dir) => existsSync(dir))).toEqual([]);
      await expect.poll(() => stateOf(pid), { timeout: 20_000 }).not.toBe('S');
    });
  });
});

/** Starts a process that opens cgroups and puts a sleeper into one of them, and kills it. */
async function leaveBehind(): Promise<{ pid: number; dirs: string[] }> {
  const script = `
    import { spawn } from 'node:child_process';
    import { openCgroups } from '#src/sandbox/machine/cgroup/cgroup.js';
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const cgroups = await openCgroups(logger, { memoryBytes: 1 << 26, pids: 40 });
    const group = cgroups.create({ memoryBytes: 1 << 25, pids: 8, cpus: 0 });
    const join = 'for file; do echo 0 >"$file"; done; echo joined; exec sleep 600';
    const child = spawn('sh', ['-c', join, 'sh', ...group.joinFiles], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.once('data', () => console.log(JSON.stringify({ pid: child.pid, dirs: group.dirs })));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = await new Promise<Buffer>((resolve) => child.stdout.once('data', resolve));
  const dead = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await dead;
  const { pid, dirs } = JSON.parse(said.toString());
  return { pid, dirs };
}

/** Returns the state letter of /proc/<pid>/stat; null if the process is gone. */
function stateOf(pid: number): string | null {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}
