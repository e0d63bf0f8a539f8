import {
  closeSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Mount } from '#src/guard/contract/mount.js';
import { type LaunchRequest, mountWorkspace, prepareLaunch } from '#src/sandbox/jail/launch.js';
import { Layers } from '#src/sandbox/layers/layers.js';
import { coverStrays } from '#src/sandbox/machine/descriptors.js';

let base = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'contextd-launch-')));
  mkdirSync(join(base, 'real/inner'), { recursive: true });
  symlinkSync('real', join(base, 'link'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function request(mounts: Mount[], change: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    bubblewrap: { path: '/usr/bin/bwrap', version: '0.8.0', features: { disableUserns: true, bindFd: true } },
    strayFds: [],
    identity: { kind: 'self' },
    workspace: null,
    network: null,
    mounts,
    env: { LANG: 'C' },
    callerEnv: {},
    cwd: '/',
    argv: ['true'],
    limits: { memoryBytes: 1000, pids: 5, fileBytes: 1025, openFiles: 9, cpus: 0 },
    group: null,
    firstFreeFd: 3,
    wallMs: 0,
    seccompFile: null,
    enter: [],
    links: [],
    ...change,
  };
}

const pinned = (path: string): Mount => ({ kind: 'bind', source: path, dest: path, pin: true });

test('SEC-2.3 a pinned source is passed as a descriptor, and only if no link is in its path', () => {
  const launch = prepareLaunch(request([pinned(join(base, 'real/inner')), pinned(join(base, 'gone'))]));
  expect(launch.inheritedFds).toHaveLength(1);
  expect(fstatSync(launch.inheritedFds[0] ?? -1).ino).toBe(statSync(join(base, 'real/inner')).ino);
  expect(launch.args.toString()).toContain(`--bind-fd\x005\x00${base}/real/inner\x00`);
  expect(launch.args.toString()).not.toContain('gone');
  launch.release();
  launch.release();
  expect(() => fstatSync(launch.inheritedFds[0] ?? -1)).toThrow('EBADF');
  for (const path of ['link', 'link/inner']) {
    expect(() => prepareLaunch(request([pinned(join(base, path))]))).toThrow(
      expect.objectContaining({ code: 'SANDBOX_UNAVAILABLE' }),
    );
  }
});

test('SEC-2.2 the filter is passed as a descriptor after the pinned sources, and closed with them', () => {
  const filter = join(base, 'filter.bpf');
  writeFileSync(filter, 'bpf');
  const launch = prepareLaunch(request([pinned(join(base, 'real'))], { seccompFile: filter }));
  expect(launch.inheritedFds).toHaveLength(2);
  expect(readFileSync(launch.inheritedFds[1] ?? -1, 'utf8')).toBe('bpf');
  expect(launch.args.toString()).toContain('--seccomp\x006\0');
  launch.release();
  expect(() => fstatSync(launch.inheritedFds[1] ?? -1)).toThrow('EBADF');
  expect(prepareLaunch(request([])).args.toString()).not.toContain('--seccomp');
});

test('joins namespaces by their descriptors, closes these before anything else, and leaves them to their holder', () => {
  const [netFd, userFd] = [openSync(join(base, 'real'), 'r'), openSync(base, 'r')];
  const filter = join(base, 'filter.bpf');
  writeFileSync(filter, 'bpf');
  const network = { netFd, userFd, name: 'net:[1]' };
  const launch = prepareLaunch(request([pinned(join(base, 'real/inner'))], { network, seccompFile: filter }));
  const enter = ['nsenter', '--preserve-credentials', '--user=/proc/self/fd/6', '--net=/proc/self/fd/5', '--'];
  expect(launch.commandLine.slice(0, 7)).toEqual([...enter, 'sh', '-c']);
  expect(launch.commandLine[7]).toMatch(/^exec 5<&-\nexec 6<&-\n/);
  expect(launch.inheritedFds.slice(0, 2)).toEqual([netFd, userFd]);
  expect(launch.inheritedFds.slice(2).map((fd) => fstatSync(fd).ino)).toEqual([
    statSync(join(base, 'real/inner')).ino,
    statSync(filter).ino,
  ]);
  expect(launch.args.toString()).toContain(`--bind-fd\x007\x00${base}/real/inner\x00`);
  expect(launch.args.toString()).toContain('--seccomp\x008\0');
  expect(launch.args.toString()).not.toContain('--unshare-net');
  launch.release();
  expect(() => fstatSync(launch.inheritedFds[2] ?? -1)).toThrow('EBADF');
  for (const fd of [netFd, userFd]) closeSync(fd);
});

test('root joins a network namespace without a user namespace', () => {
  const netFd = openSync(base, 'r');
  const launch = prepareLaunch(request([], { network: { netFd, userFd: null, name: 'net:[1]' } }));
  expect(launch.commandLine.slice(0, 4)).toEqual(['nsenter', '--net=/proc/self/fd/5', '--', 'sh']);
  closeSync(netFd);
});

test('SEC-2.3 mounts a workspace before it is pinned', async () => {
  const layers = new Layers({ root: join(base, 'layers'), enter: async () => null, unpack: async () => {} });
  const workspace = await mountWorkspace({ path: join(base, 'real'), layer: null }, layers);
  expect(prepareLaunch(request([pinned(workspace.path)], { workspace })).inheritedFds).toHaveLength(1);
  await expect(mountWorkspace({ path: join(base, 'real'), layer: ['b'] }, layers)).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    message: expect.stringContaining('branch b'),
  });
});

test('SEC-2.5 limits are set before anything runs, for each process if no cgroup counts', () => {
  const without = prepareLaunch(request([])).commandLine;
  expect(without.slice(3)).toEqual([
    'contextd-sandbox',
    '3',
    '9',
    '--',
    '--',
    '--',
    '/usr/bin/bwrap',
    '--args',
    '3',
    '--',
    '/usr/bin/prlimit',
    '--nproc=5',
    '--data=1000',
    '--',
    'true',
  ]);
  const steered = prepareLaunch(request([], { callerEnv: { LD_PRELOAD: '/x.so' } }));
  expect(steered.commandLine.slice(-3)).toEqual(['/usr/bin/env', 'LD_PRELOAD=/x.so', 'true']);
  expect(steered.args.toString()).not.toContain('LD_PRELOAD');
  const group = {
    joinFiles: ['/m/tasks', '/p/tasks'],
    dirs: [],
    events: () => ({ oomKills: 0, pidsRefused: 0 }),
    kill() {},
  };
  const within = prepareLaunch(request([], { group })).commandLine;
  expect(within.slice(3)).toEqual([
    'contextd-sandbox',
    '3',
    '9',
    '/m/tasks',
    '/p/tasks',
    '--',
    '--',
    '--',
    '/usr/bin/bwrap',
    '--args',
    '3',
    '--',
    'true',
  ]);
});

test('it enters the mount namespace of links first, and checks the links last', () => {
  const enter = ['nsenter', '--mount=/proc/1/ns/mnt', '--'];
  const { commandLine } = prepareLaunch(request([], { enter, links: ['/w/.git/config'] }));
  expect(commandLine.slice(0, 4)).toEqual([...enter, 'sh']);
  expect(commandLine.slice(6, 14)).toEqual([
    'contextd-sandbox',
    '3',
    '9',
    '--',
    '--',
    '/w/.git/config',
    '--',
    '/usr/bin/bwrap',
  ]);
});

test.runIf(process.getuid?.() === 0)(
  'SEC-2.3 directories that are closed to the owner are bound elsewhere first, in a private namespace',
  () => {
    const closed = join(base, 'real');
    const launch = prepareLaunch(
      request([{ kind: 'ro-bind', source: closed, dest: '/tool' }], {
        identity: { kind: 'owner', uid: 65534, gid: 65534 },
      }),
    );
    expect(launch.commandLine.slice(0, 6)).toEqual(['unshare', '--mount', '--propagation', 'private', '--', 'sh']);
    expect(launch.commandLine.slice(8)).toEqual(
      expect.arrayContaining(['--', closed, '/run/contextd-sandbox/d0', '--', '--', 'setpriv', '--reuid=65534']),
    );
    expect(launch.args.toString()).toContain('--ro-bind\0/run/contextd-sandbox/d0\0/tool\0');
  },
);

test('SEC-2.3 descriptors that the daemon inherited are covered, those that the sandbox needs are not', () => {
  const seen = coverStrays(['ignore', 'pipe', 7], [2, 4, 6], (stdio) => stdio);
  expect(seen).toEqual(['ignore', 'pipe', 7, 'ignore', expect.any(Number), 'ignore', expect.any(Number)]);
  expect(seen[4]).toBe(seen[6]);
  expect(coverStrays(['ignore'], [0], (stdio) => stdio)).toEqual(['ignore']);
});
