import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Mount } from '#src/guard/contract/mount.js';
import {
  buildEnvironment,
  checkArgv,
  encodeArguments,
  planTree,
  renderArguments,
} from '#src/sandbox/machine/mount-plan.js';

const WORKSPACE: Mount = { kind: 'bind', source: '/home/u/p', dest: '/home/u/p', pin: true };

function plan(mounts: readonly Mount[], pins = new Map<Mount, number>()): string[] {
  const features = { disableUserns: true, bindFd: true };
  return renderArguments({
    mounts,
    env: { PATH: '/bin' },
    cwd: '/home/u/p',
    features,
    ids: { uid: 1001, gid: 100 },
    joinsNetwork: false,
    pins,
    statusFd: 4,
    seccompFd: 6,
  });
}

test('SEC-2.3 SEC-2.4 a sandbox always has every namespace, no capability and no environment', () => {
  expect(plan([WORKSPACE], new Map([[WORKSPACE, 5]]))).toEqual([
    '--die-with-parent',
    '--new-session',
    '--unshare-user',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--disable-userns',
    '--cap-drop',
    'ALL',
    '--uid',
    '1001',
    '--gid',
    '100',
    '--hostname',
    'sandbox',
    '--clearenv',
    '--setenv',
    'PATH',
    '/bin',
    '--bind-fd',
    '5',
    '/home/u/p',
    '--chdir',
    '/home/u/p',
    '--json-status-fd',
    '4',
    '--seccomp',
    '6',
  ]);
});

test('renders each kind of mount, and a pinned mount without descriptors by its path', () => {
  const mounts: Mount[] = [
    WORKSPACE,
    { kind: 'ro-bind', source: '/a', dest: '/b' },
    { kind: 'tmpfs', dest: '/tmp', sizeBytes: 7 },
    { kind: 'symlink', target: 'usr/bin', dest: '/bin' },
    { kind: 'remount-ro', dest: '/' },
  ];
  expect(plan(mounts).join(' ')).toContain(
    '--bind /home/u/p /home/u/p --ro-bind /a /b --size 7 --tmpfs /tmp --symlink usr/bin /bin --remount-ro /',
  );
});

test('the tree is built parents first, protections after what they protect, and made read-only at the end', () => {
  const plan = {
    base: [{ kind: 'ro-bind', source: '/usr', dest: '/usr' }],
    writable: ['/home/u/p', '/home/u'],
    roPaths: ['/home/u/p/.venv', '/home/u/.nvm'],
    toolchains: [{ kind: 'ro-bind', source: '/home/u/.pyenv/bin', dest: '/home/u/.pyenv/bin' }],
    protectedMounts: [{ kind: 'ro-bind', source: '/home/u/p/.envrc', dest: '/home/u/p/.envrc', pin: true }],
    proc: [{ kind: 'ro-bind', source: '/proc/sys', dest: '/proc/sys' }],
    program: [{ kind: 'ro-bind', source: '/n', dest: '/opt/contextd/node' }],
    isWatched: false,
  } as const;
  const tree = planTree(plan);
  expect(tree.map((mount) => `${mount.kind} ${mount.dest}`)).toEqual([
    'ro-bind /usr',
    'proc /proc',
    'ro-bind /proc/sys',
    'dev /dev',
    'tmpfs /dev/shm',
    'tmpfs /tmp',
    'tmpfs /home/sandbox',
    'dir /run',
    'bind /home/u',
    'ro-bind /home/u/.nvm',
    'bind /home/u/p',
    'ro-bind /home/u/p/.venv',
    'ro-bind /home/u/.pyenv/bin',
    'ro-bind /home/u/p/.envrc',
    'ro-bind /opt/contextd/node',
    'remount-ro /dev',
    'remount-ro /',
  ]);
  expect(tree.filter((mount) => 'pin' in mount && mount.pin).map(({ dest }) => dest)).toEqual([
    '/home/u',
    '/home/u/.nvm',
    '/home/u/p',
    '/home/u/p/.venv',
    '/home/u/p/.envrc',
  ]);
  const added = planTree({ ...plan, isWatched: true }).filter(({ dest }) => !tree.some((mount) => mount.dest === dest));
  expect(added).toEqual([{ kind: 'dev-bind', source: '/dev/full', dest: '/dev/zero' }]);
});

test('the directories between a temporary place and a project below it are read-only, the place itself is not', () => {
  const plan = {
    base: [],
    roPaths: ['/tmp/tools'],
    toolchains: [],
    protectedMounts: [],
    proc: [],
    program: [],
    isWatched: false,
  };
  const tree = planTree({ ...plan, writable: ['/tmp/a/b/project', '/home/sandbox/x/y', '/tmp/tools/in'] });
  const kinds = tree.map((mount) => `${mount.kind} ${mount.dest}`);
  expect(kinds.slice(kinds.indexOf('dir /run') + 1)).toEqual([
    'tmpfs /tmp/a',
    'tmpfs /home/sandbox/x',
    'ro-bind /tmp/tools',
    'bind /tmp/tools/in',
    'bind /tmp/a/b/project',
    'bind /home/sandbox/x/y',
    'remount-ro /tmp/a',
    'remount-ro /home/sandbox/x',
    'remount-ro /dev',
    'remount-ro /',
  ]);
});

test('no value can become an option: it is encoded exactly or refused', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (list) => {
      if (list.some((item) => item.includes('\0'))) {
        expect(() => encodeArguments(list)).toThrow(expect.objectContaining({ code: 'ARGS_INVALID' }));
        return;
      }
      const decoded = encodeArguments(list).toString().split('\0');
      expect(decoded).toEqual([...list.map((item) => Buffer.from(item).toString()), '']);
    }),
  );
});

test('the environment has four names, toolchains come first on PATH, the caller’s variables come last', () => {
  const env = buildEnvironment(['/nvm/bin'], { LANG: 'C', EXTRA: '1' });
  expect(Object.keys(env)).toEqual(['PATH', 'HOME', 'TMPDIR', 'LANG', 'EXTRA']);
  expect(env).toMatchObject({ LANG: 'C', EXTRA: '1', PATH: expect.stringMatching(/^\/nvm\/bin:\/usr\/local\/sbin:/) });
});

test('a size that execve would refuse is refused and named', () => {
  expect(() => checkArgv(['bash', '-c', 'é'.repeat(65_536)])).toThrow('131073 bytes; Linux allows 131072');
  expect(() => checkArgv(['bash', '-c', 'x'.repeat(131_071)])).not.toThrow();
});
