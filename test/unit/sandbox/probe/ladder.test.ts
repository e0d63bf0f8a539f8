import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { collectFacts, distributionOf, type FactReaders, type MachineFacts } from '#src/sandbox/machine/facts.js';
import { explainFailure, isFilterRefused } from '#src/sandbox/machine/failures.js';
import { checkEnough, judge, type Situation, type Trial } from '#src/sandbox/probe/ladder.js';

/** A machine from its recorded files; "" stands for a directory or an empty file. */
function machine(files: Record<string, string>, change: Partial<FactReaders> & { writable?: string[] } = {}) {
  const { writable = [], ...readers } = change;
  return collectFacts(BWRAP, {
    read: (path) => files[path] ?? null,
    stat: (path) => (path in files ? { mtimeMs: 1, size: files[path]?.length ?? 0, mode: 0o100755 } : null),
    isWritable: (path) => writable.includes(path),
    isExecutable: (path) => path in files,
    uid: 1000,
    kernel: '6.8.0-45-generic',
    arch: 'x64',
    ...readers,
  });
}

const BWRAP = { path: '/usr/bin/bwrap', version: '0.9.0', features: { disableUserns: true, bindFd: false } };
const STATUS = 'Name:\tnode\nSeccomp:\t0\n';
const V2_MOUNT = '30 24 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n';
const PROC_MOUNT = '25 24 0:23 / /proc rw,nosuid - proc proc rw\n';
const UTIL_LINUX = { '/usr/bin/setpriv': '', '/usr/bin/prlimit': '', '/usr/bin/unshare': '' };

const UBUNTU = {
  '/usr/bin/bwrap': 'x',
  ...UTIL_LINUX,
  '/etc/os-release': 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nID=ubuntu\nID_LIKE=debian\n',
  '/run/systemd/system': '',
  '/proc/self/status': STATUS,
  '/proc/self/mountinfo': PROC_MOUNT + V2_MOUNT,
  '/proc/self/cgroup': '0::/user.slice/user-1000.slice/session-3.scope\n',
  '/proc/cgroups': '#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t100\t1\n',
  '/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope/cgroup.controllers': 'memory pids\n',
  '/proc/sys/user/max_user_namespaces': '62000\n',
  '/proc/sys/kernel/unprivileged_userns_clone': '1\n',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n',
  '/proc/version': 'Linux version 6.8.0-45-generic (buildd@lcy02)',
};

const DEBIAN = {
  ...UBUNTU,
  '/etc/os-release': 'ID=debian\n',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '0',
};
const DOCKER = {
  ...DEBIAN,
  '/.dockerenv': '',
  '/proc/self/cgroup': '0::/\n',
  '/proc/1/cgroup': '0::/\n',
  '/proc/self/mountinfo': `1 0 0:50 / / rw - overlay overlay rw\n${PROC_MOUNT}${V2_MOUNT}`,
};
const WSL_2 = {
  ...DEBIAN,
  '/proc/version': 'Linux version 5.15.153.1-microsoft-standard-WSL2 (root@x)',
};

const NO_NAMESPACE =
  'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.';
const OWN = ['user', 'pid', 'net', 'mnt', 'ipc', 'uts', 'cgroup'];
const GOOD: Trial = {
  ran: true,
  findings: { ownNamespaces: OWN, filtered: true, nestable: false },
  refusedFilter: false,
  unshared: null,
};

function situation(change: Partial<Situation> = {}): Situation {
  return { facts: delegated(), identity: 'self', cgroups: 'v2', trial: GOOD, ...change };
}

/** As under systemd-run --user --scope -p Delegate=yes. */
function delegated(): MachineFacts {
  const group = '/sys/fs/cgroup/user.slice/run-r1.scope';
  return machine(
    {
      ...DEBIAN,
      '/proc/self/cgroup': '0::/user.slice/run-r1.scope/contextd-77-daemon\n',
      [`${group}/cgroup.controllers`]: 'cpu memory pids\n',
    },
    { writable: [group, `${group}/cgroup.procs`] },
  );
}

describe('machines that are recognized', () => {
  test('Ubuntu 24.04: explains AppArmor’s rule and the profile that lifts it for bubblewrap', () => {
    const facts = machine(UBUNTU);
    expect(facts.sysctls.apparmorRestrictUserns).toBe(1);
    for (const said of [
      'bwrap: setting up uid map: Permission denied',
      'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted',
      NO_NAMESPACE,
    ]) {
      expect(explainFailure(said, facts)).toEqual({
        missing: 'unprivileged user namespaces are restricted by AppArmor (as on Ubuntu 24.04)',
        remedy:
          'As root, install the profile that allows bubblewrap: apt-get install -y apparmor-profiles && ' +
          'ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && ' +
          'apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict. Or, for the whole machine: ' +
          'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.',
      });
    }
  });

  test('the same rule applies in a container and is lifted on its host', () => {
    const facts = machine({ ...UBUNTU, '/.dockerenv': '' });
    expect(explainFailure('bwrap: setting up uid map: Permission denied', facts).remedy).toBe(
      'On the host of this container, as root: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.',
    );
  });

  test('Docker: explains its seccomp profile, AppArmor profile and masked /proc', () => {
    const facts = machine(DOCKER);
    expect(facts.container).toBe('docker');
    const remedy =
      'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined ' +
      '--security-opt systempaths=unconfined (--cap-add SYS_ADMIN does the work of the first).';
    expect(explainFailure(NO_NAMESPACE, facts)).toEqual({
      missing: 'the container forbids user namespaces (Docker does so by default)',
      remedy,
    });
    expect(explainFailure("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", facts)).toEqual({
      missing: 'the container forbids a new /proc by masking parts of its own (Docker does so by default)',
      remedy,
    });
    expect(explainFailure('bwrap: Failed to make / slave: Permission denied', facts).remedy).toBe(remedy);
    expect(explainFailure('unshare: unshare failed: Operation not permitted', facts).remedy).toContain(
      '--cap-add SYS_ADMIN',
    );
  });

  test.each([
    ['docker', { '/proc/1/cgroup': '12:pids:/docker/4f1c\n' }],
    ['docker', { '/proc/self/mountinfo': '1 0 0:5 /docker/overlay2/x / rw - overlay o rw\n' }],
    ['podman', { '/run/.containerenv': 'engine="podman-5"\n' }],
    ['podman', { '/proc/self/cgroup': '0::/machine.slice/libpod-1a.scope\n' }],
    ['kubernetes', { '/.dockerenv': '', '/var/run/secrets/kubernetes.io': '' }],
    ['kubernetes', { '/proc/self/cgroup': '0::/kubepods.slice/kubepods-pod1.slice\n' }],
    ['lxc', { '/run/systemd/container': 'lxc\n' }],
    ['other', { '/run/systemd/container': 'systemd-nspawn\n' }],
    [null, { '/run/systemd/container': 'wsl\n' }],
    [null, {}],
  ])('container: %s', (kind, marks) => {
    expect(machine({ ...DEBIAN, ...marks }).container).toBe(kind);
  });

  test('names the options of Podman and Kubernetes', () => {
    const podman = machine({ ...DEBIAN, '/run/.containerenv': '' });
    expect(explainFailure(NO_NAMESPACE, podman).remedy).toBe(
      'Start the container with --security-opt seccomp=unconfined --security-opt label=disable --security-opt unmask=ALL.',
    );
    const pod = machine({ ...DEBIAN, '/var/run/secrets/kubernetes.io': '' });
    expect(explainFailure(NO_NAMESPACE, pod).remedy).toBe(
      'In the pod: hostUsers: false, and in the container’s securityContext seccompProfile: {type: Unconfined}, ' +
        'appArmorProfile: {type: Unconfined}, procMount: Unmasked.',
    );
  });

  test('WSL 1 is unavailable, whatever bubblewrap printed; its remedy is WSL 2', () => {
    const facts = machine(
      { ...DEBIAN, '/proc/version': 'Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)' },
      { kernel: '4.4.0-19041-Microsoft' },
    );
    const report = judge(situation({ facts, trial: { ran: false, failure: 'bwrap: anything' } }));
    expect(report).toMatchObject({
      level: 'unavailable',
      missing: ['WSL 1 has no namespaces at all'],
      remedy: 'Convert it to WSL 2, in PowerShell: wsl --list --verbose, then wsl --set-version <name> 2.',
    });
  });

  test('WSL 2 without systemd delegates no cgroup', () => {
    const { '/run/systemd/system': _, ...files } = WSL_2;
    const facts = machine(files, { kernel: '5.15.153.1-microsoft-standard-WSL2' });
    expect(facts).toMatchObject({ wsl: 2, systemd: false });
    expect(judge(situation({ facts, cgroups: null })).remedy).toBe(
      'systemd is off in this WSL 2: put "[boot]" and "systemd=true" into /etc/wsl.conf, run wsl --shutdown in ' +
        'PowerShell, then systemd-run --user --scope -p Delegate=yes ctxd server start. ' +
        'Until then the limits hold per process, with a watchdog.',
    );
    expect(machine({ ...DEBIAN, '/proc/sys/fs/binfmt_misc/WSLInterop': '' }).wsl).toBe(2);
    expect(machine(DEBIAN).wsl).toBeNull();
  });

  test.each([
    ['ID=debian', 'sudo apt-get install -y bubblewrap'],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"', 'sudo apt-get install -y bubblewrap'],
    ['ID="rhel"', 'sudo dnf install -y bubblewrap'],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"', 'sudo dnf install -y bubblewrap'],
    ["ID='manjaro'\nID_LIKE=arch", 'sudo pacman -S --needed bubblewrap'],
    ['ID="opensuse-tumbleweed"', 'sudo zypper install -y bubblewrap'],
    ['ID=alpine', 'sudo apk add bubblewrap'],
    ['ID=nixos', 'nix-env -iA nixos.bubblewrap'],
    ['', 'apt-get install -y bubblewrap (dnf install -y bubblewrap, pacman -S --needed bubblewrap)'],
  ])('explains missing bubblewrap if os-release says %s', (release, command) => {
    const facts = { ...machine(DEBIAN), bubblewrap: null, distribution: distributionOf(`NAME=x\n${release}\n`) };
    const report = judge(situation({ facts, trial: null }));
    expect(report).toMatchObject({ level: 'unavailable', backend: 'none', missing: ['bubblewrap is not installed'] });
    expect(report.remedy).toBe(`${command}, then \`ctxd server restart\`.`);
  });

  test('root needs no sudo', () => {
    const facts = { ...machine(DEBIAN, { uid: 0 }), bubblewrap: null };
    expect(judge(situation({ facts, trial: null })).remedy).toMatch(/^apt-get install -y bubblewrap,/);
  });

  test('an old bubblewrap is named with the option it lacks', () => {
    const facts = machine(DEBIAN);
    const old = { ...facts, bubblewrap: facts.bubblewrap && { ...facts.bubblewrap, version: '0.4.1' } };
    expect(explainFailure('bwrap: Unknown option --size', old)).toEqual({
      missing: 'bubblewrap is too old (0.4.1 does not know --size)',
      remedy:
        'Update bubblewrap to 0.8 or later: sudo apt-get install -y bubblewrap, from a newer release of the distribution if need be.',
    });
  });

  test('recognizes a setuid bubblewrap', () => {
    const facts = machine(DEBIAN);
    const setuid = { ...facts, bubblewrap: facts.bubblewrap && { ...facts.bubblewrap, mode: 0o104755 } };
    const remedy =
      'sudo chmod u-s /usr/bin/bwrap, and allow user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1 (where the setting exists).';
    expect(explainFailure('bwrap: The --size option is not permitted in setuid mode', setuid).remedy).toBe(remedy);
    const max = 'bwrap: cannot open /proc/sys/user/max_user_namespaces: Permission denied';
    expect(explainFailure(max, setuid).remedy).toBe(remedy);
    expect(explainFailure(max, facts).missing).toContain('this kernel does not let bubblewrap forbid');
  });

  test('recognizes user namespaces that are turned off or used up', () => {
    const none = machine({ ...DEBIAN, '/proc/sys/user/max_user_namespaces': '0\n' });
    const remedy =
      'sudo sysctl -w user.max_user_namespaces=15000 (and the same line in /etc/sysctl.d/contextd.conf, to keep it).';
    expect(explainFailure(NO_NAMESPACE, none).remedy).toBe(remedy);
    expect(
      explainFailure(
        'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)',
        machine(DEBIAN),
      ).remedy,
    ).toBe(remedy);
    const off = machine({ ...DEBIAN, '/proc/sys/kernel/unprivileged_userns_clone': '0\n' });
    expect(explainFailure(NO_NAMESPACE, off)).toEqual({
      missing: 'unprivileged user namespaces are off (kernel.unprivileged_userns_clone=0)',
      remedy:
        'sudo sysctl -w kernel.unprivileged_userns_clone=1 (and the same line in /etc/sysctl.d/contextd.conf, to keep it).',
    });
  });

  test('a full disk is not mistaken for used-up namespaces', () => {
    expect(explainFailure('Error: ENOSPC: no space left on device, write', machine(DEBIAN))).toEqual({
      missing: 'the disk that holds contextd’s data is full',
      remedy: 'Free some space there (df -h shows bytes, df -i files), then call again.',
    });
    expect(explainFailure('unshare: unshare failed: No space left on device').missing).toContain('user namespaces');
  });

  test('names the missing programs of util-linux', () => {
    const { '/usr/bin/setpriv': _, ...files } = DEBIAN;
    const facts = machine(files);
    expect(explainFailure('sh: 10: exec: setpriv: not found', facts)).toEqual({
      missing: 'setpriv of util-linux is not installed',
      remedy: 'sudo apt-get install -y util-linux.',
    });
    const alpine = { ...facts, distribution: distributionOf('ID=alpine\n') };
    expect(explainFailure('setpriv: unrecognized option: reuid=1000', alpine).remedy).toBe(
      'sudo apk add setpriv util-linux-misc.',
    );
  });

  test('recognizes /proc with hidepid', () => {
    const facts = machine({
      ...DEBIAN,
      '/proc/self/mountinfo': '25 24 0:23 / /proc rw,relatime - proc proc rw,hidepid=invisible\n',
    });
    expect(facts.hidepid).toBe(true);
    expect(explainFailure("bwrap: Can't mount proc on /newroot/proc", facts).remedy).toBe(
      'sudo mount -o remount,hidepid=0 /proc, and remove hidepid from /etc/fstab.',
    );
  });
});

describe('remedies for cgroups that cannot be written', () => {
  const remedyOf = (facts: MachineFacts) => judge(situation({ facts, cgroups: null })).remedy;

  test.each([
    [1000, ' --user'],
    [0, ''],
  ])('systemd, uid %i', (uid, user) => {
    expect(remedyOf(machine(DEBIAN, { uid }))).toBe(
      `Start contextd in a delegated cgroup: ctxd server stop; systemd-run${user} --scope -p Delegate=yes ctxd server start. ` +
        'Or run it as a unit with Delegate=yes. Until then the limits hold per process, with a watchdog.',
    );
  });

  test('explains that cgroup v1 belongs to root', () => {
    const facts = machine({
      ...DEBIAN,
      '/proc/self/mountinfo':
        '34 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n38 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n',
      '/proc/self/cgroup': '8:pids:/user\n4:memory:/user\n',
    });
    expect(facts.cgroup.v1).toEqual({ path: '/sys/fs/cgroup/memory/user', writable: false, cpu: false });
    expect(remedyOf(facts)).toContain('boot with systemd.unified_cgroup_hierarchy=1 for v2, or run contextd as root');
  });

  test('containers', () => {
    expect(remedyOf(machine(DOCKER))).toContain(
      '--cgroupns=private --security-opt writable-cgroups=true (Docker 28 or later)',
    );
    expect(remedyOf(machine({ ...DEBIAN, '/run/.containerenv': '' }))).toContain('unmask=/sys/fs/cgroup');
    expect(remedyOf(machine({ ...DEBIAN, '/var/run/secrets/kubernetes.io': '' }))).toContain('resources.limits');
  });

  test('explains a kernel without the memory controller and a system without systemd', () => {
    const off = { ...DEBIAN, '/proc/cgroups': 'cpu\t0\t1\t1\nmemory\t0\t58\t0\n' };
    expect(remedyOf(machine(off))).toContain('add cgroup_enable=memory to its command line');
    const { '/run/systemd/system': _, ...plain } = DEBIAN;
    expect(remedyOf(machine(plain))).toContain('echo "+memory +pids +cpu" >/sys/fs/cgroup/cgroup.subtree_control');
  });

  test('the daemon’s own child group does not count as its location', () => {
    expect(delegated().cgroup.v2).toEqual({
      path: '/sys/fs/cgroup/user.slice/run-r1.scope',
      writable: true,
      controllers: ['cpu', 'memory', 'pids'],
    });
  });
});

describe('the ladder', () => {
  test('is full if every layer is enforced', () => {
    const report = judge(situation());
    expect(report).toMatchObject({ level: 'full', missing: [], remedy: null, backend: 'bubblewrap', version: '0.9.0' });
    expect(report.layers.map(({ name }) => name)).toEqual([
      'user namespace',
      'pid namespace',
      'network namespace',
      'mount namespace',
      'ipc namespace',
      'uts namespace',
      'cgroup namespace',
      'no namespaces inside',
      'seccomp filter',
      'memory limit',
      'pids limit',
      'cpu limit',
      'total limit',
      'unprivileged user',
    ]);
    expect(report.layers.every(({ enforced, remedy }) => enforced && remedy === null)).toBe(true);
  });

  test('reduced: without a cgroup, each limit is missing and names what holds instead', () => {
    const report = judge(situation({ facts: machine(DEBIAN), cgroups: null }));
    expect(report.level).toBe('reduced');
    expect(report.missing).toEqual(['memory, process and processor limits for the whole sandbox (no writable cgroup)']);
    const open = report.layers.filter(({ enforced }) => !enforced);
    expect(open.map(({ name }) => name)).toEqual(['memory limit', 'pids limit', 'cpu limit', 'total limit']);
    expect(open[0]?.by).toBe(
      'a limit for each process, a watchdog over their sum, and a refusal of memory that cannot be counted',
    );
    expect(open[2]?.by).toBe('nothing');
    const withTaskset = judge(situation({ facts: machine({ ...DEBIAN, '/usr/bin/taskset': '' }), cgroups: null }));
    expect(withTaskset.layers.find(({ name }) => name === 'cpu limit')).toMatchObject({
      enforced: false,
      by: 'all sandboxes share a fixed set of fewer processors',
    });
    expect(open.every(({ remedy }) => remedy === report.remedy)).toBe(true);
  });

  test('reduced: only the cpu controller was not delegated', () => {
    const facts = { ...delegated() };
    const cgroup = { ...facts.cgroup, v2: facts.cgroup.v2 && { ...facts.cgroup.v2, controllers: ['memory', 'pids'] } };
    const report = judge(situation({ facts: { ...facts, cgroup } }));
    expect(report.missing).toEqual(['a processor limit (the cpu controller was not delegated)']);
    expect(report.remedy).toContain('Delegate="cpu memory pids"');
  });

  test.each([
    [
      { arch: 'riscv64' },
      false,
      'a seccomp filter (contextd has none for riscv64)',
      'Run contextd on x86-64 or 64-bit ARM.',
    ],
    [{}, true, 'a seccomp filter (this kernel does not accept one)', 'CONFIG_SECCOMP_FILTER'],
    [{ seccomp: false }, false, 'a seccomp filter (this kernel does not accept one)', 'CONFIG_SECCOMP_FILTER'],
  ])('SEC-2.2 reduced: no filter is in force (%j)', (change, refusedFilter, missing, remedy) => {
    const findings = { ownNamespaces: OWN, filtered: false, nestable: false };
    const report = judge(
      situation({
        facts: { ...delegated(), ...change },
        trial: { ran: true, findings, refusedFilter, unshared: null },
      }),
    );
    expect(report).toMatchObject({ level: 'reduced', missing: [missing] });
    expect(report.remedy).toContain(remedy);
  });

  test('an old bubblewrap that cannot ban nesting is full if the filter covers it, and the report says so', () => {
    const facts = delegated();
    const bubblewrap = facts.bubblewrap && {
      ...facts.bubblewrap,
      version: '0.7.0',
      features: { disableUserns: false, bindFd: false },
    };
    const report = judge(situation({ facts: { ...facts, bubblewrap } }));
    expect(report.level).toBe('full');
    expect(report.layers.find(({ name }) => name === 'no namespaces inside')?.by).toBe(
      'the seccomp filter (bubblewrap 0.7.0 has no ban)',
    );
    const nestable: Trial = {
      ran: true,
      findings: { ownNamespaces: OWN, filtered: true, nestable: true },
      refusedFilter: false,
      unshared: null,
    };
    expect(judge(situation({ facts: { ...facts, bubblewrap }, trial: nestable }))).toMatchObject({
      level: 'reduced',
      missing: ['a ban on user namespaces inside (this bubblewrap is older than 0.8)'],
    });
  });

  test('SEC-2.3 a sandbox without a namespace that containment needs is refused, not reduced', () => {
    for (const gone of ['user', 'pid', 'net', 'mnt']) {
      const findings = { ownNamespaces: OWN.filter((name) => name !== gone), filtered: true, nestable: false };
      const report = judge(situation({ trial: { ran: true, findings, refusedFilter: false, unshared: null } }));
      expect(report).toMatchObject({ level: 'unavailable', missing: [`a ${gone} namespace`], layers: [] });
    }
    const findings = { ownNamespaces: OWN.filter((name) => name !== 'cgroup'), filtered: true, nestable: false };
    expect(judge(situation({ trial: { ran: true, findings, refusedFilter: false, unshared: null } })).level).toBe(
      'reduced',
    );
  });

  test('the loopback counts as shared if the trial joined a namespace; the level does not depend on it', () => {
    const shared = judge(situation());
    expect(shared.loopback).toEqual({ isShared: true, why: null, remedy: null });
    const unshared = explainFailure('nsenter: reassociate to namespace failed: Operation not permitted');
    const alone = judge(situation({ trial: { ...GOOD, unshared } }));
    expect(alone.loopback).toEqual({ isShared: false, why: unshared.missing, remedy: unshared.remedy });
    expect(unshared.missing).toBe('a network namespace cannot be joined (nsenter was refused)');
    expect(alone.level).toBe(shared.level);
  });

  test('a workspace owned by root is reduced, and unavailable without a pids cgroup', () => {
    expect(judge(situation({ identity: 'root' })).missing).toEqual([
      'an unprivileged user inside (the workspace belongs to root)',
    ]);
    expect(judge(situation({ identity: 'root', cgroups: null, trial: { ran: false, failure: '' } }))).toMatchObject({
      level: 'unavailable',
      missing: ['a pids cgroup, without which nothing limits the processes of uid 0 (the workspace belongs to root)'],
    });
  });

  test('a layer is missing exactly if it has a remedy', () => {
    fc.assert(
      fc.property(
        fc.subarray(OWN),
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom<Situation['identity'][]>('self', 'owner', 'root'),
        fc.constantFrom<Situation['cgroups'][]>('v1', 'v2', null),
        (ownNamespaces, filtered, nestable, refusedFilter, identity, cgroups) => {
          const findings = { ownNamespaces, filtered, nestable };
          const report = judge(
            situation({ identity, cgroups, trial: { ran: true, findings, refusedFilter, unshared: null } }),
          );
          const open = report.layers.filter(({ enforced }) => !enforced);
          expect(report.level === 'full').toBe(report.missing.length === 0);
          expect(report.level === 'full').toBe(report.remedy === null);
          expect(open.length > 0).toBe(report.level === 'reduced');
          for (const layer of open) expect(report.remedy).toContain(layer.remedy);
        },
      ),
    );
  });
});

describe('what a policy requires', () => {
  const reduced = judge(situation({ identity: 'root' }));

  test('full satisfies both, reduced satisfies reduced, unavailable satisfies neither', () => {
    checkEnough(judge(situation()), 'full');
    checkEnough(judge(situation()), 'reduced');
    checkEnough(reduced, 'reduced');
    const refused = (): void => checkEnough(reduced, 'full');
    expect(refused).toThrow(ContextdError);
    expect(refused).toThrow(
      expect.objectContaining({
        code: 'SANDBOX_UNAVAILABLE',
        message:
          'isolation is reduced, but full isolation is required; missing: an unprivileged user inside (the workspace belongs to root)',
        remedy: 'Give the workspace to an ordinary user (chown -R USER), or run contextd as one.',
      }),
    );
    const none = judge(situation({ facts: { ...delegated(), bubblewrap: null }, trial: null }));
    expect(() => checkEnough(none, 'reduced')).toThrow(
      /isolation is unavailable; missing: bubblewrap is not installed/,
    );
  });
});

test('a filter that the kernel refuses is distinguished from a sandbox that does not start', () => {
  expect(isFilterRefused('bwrap: prctl(PR_SET_SECCOMP): Invalid argument')).toBe(true);
  expect(isFilterRefused(NO_NAMESPACE)).toBe(false);
});

test('docs/isolation.md names the same remedies', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/isolation.md'), 'utf8');
  const shown = text.replaceAll('`', '');
  const facts = { docker: machine(DOCKER), podman: machine({ ...DEBIAN, '/run/.containerenv': '' }) };
  const remedies = [
    explainFailure(NO_NAMESPACE, facts.docker).remedy,
    explainFailure(NO_NAMESPACE, facts.podman).remedy,
    judge(situation({ facts: facts.docker, cgroups: null })).remedy,
    judge(situation({ facts: facts.podman, cgroups: null })).remedy,
  ];
  for (const remedy of remedies)
    for (const option of remedy?.match(/--[\w-]+[ =][\w=/-]+/g) ?? ['none']) expect(shown).toContain(option);
  for (const line of explainFailure('setting up uid map: Permission denied', machine(UBUNTU)).remedy.match(
    /apt-get [^&]+[^& ]|ln -s [^&]+[^& ]|apparmor_parser -r [^. ]+|sysctl -w \S+[^. ]/g,
  ) ?? ['none'])
    expect(shown).toContain(line);
  expect(shown).toContain('systemd-run --user --scope -p Delegate=yes ctxd server start');
  expect(shown).toContain('**This part has not been run on a Mac so far.**');
});
