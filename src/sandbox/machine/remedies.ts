import type { Distribution, MachineFacts } from './facts.ts';

/** What is missing, as a phrase, and what a person can do about it. */
export interface Shortfall {
  readonly missing: string;
  readonly remedy: string;
}

type PackageName = 'bubblewrap' | 'util-linux';

const INSTALL: Readonly<Record<NonNullable<Distribution['packages']>, Readonly<Record<PackageName, string>>>> = {
  apt: { bubblewrap: 'apt-get install -y bubblewrap', 'util-linux': 'apt-get install -y util-linux' },
  dnf: { bubblewrap: 'dnf install -y bubblewrap', 'util-linux': 'dnf install -y util-linux' },
  pacman: { bubblewrap: 'pacman -S --needed bubblewrap', 'util-linux': 'pacman -S --needed util-linux' },
  zypper: { bubblewrap: 'zypper install -y bubblewrap', 'util-linux': 'zypper install -y util-linux' },
  // busybox has its own setpriv and unshare, which lack the options used here.
  apk: { bubblewrap: 'apk add bubblewrap', 'util-linux': 'apk add setpriv util-linux-misc' },
  nix: { bubblewrap: 'nix-env -iA nixos.bubblewrap', 'util-linux': 'nix-env -iA nixos.util-linux' },
};

/** The install command for this distribution, or the most common ones. */
export function installCommand(name: PackageName, facts: MachineFacts | null): string {
  const packages = facts?.distribution.packages ?? null;
  if (packages === null) return `${INSTALL.apt[name]} (${INSTALL.dnf[name]}, ${INSTALL.pacman[name]})`;
  return `${packages === 'nix' || facts?.uid === 0 ? '' : 'sudo '}${INSTALL[packages][name]}`;
}

export function missingBubblewrap(facts: MachineFacts | null): Shortfall {
  return {
    missing: 'bubblewrap is not installed',
    remedy: `${installCommand('bubblewrap', facts)}, then \`ctxd server restart\`.`,
  };
}

export function oldBubblewrap(facts: MachineFacts | null, option: string): Shortfall {
  const version = facts?.bubblewrap?.version ?? 'this version';
  return {
    missing: `bubblewrap is too old (${version} does not know ${option})`,
    remedy: `Update bubblewrap to 0.8 or later: ${installCommand('bubblewrap', facts)}, from a newer release of the distribution if need be.`,
  };
}

export function setuidBubblewrap(facts: MachineFacts | null): Shortfall {
  const path = facts?.bubblewrap?.path ?? '/usr/bin/bwrap';
  return {
    missing: 'bubblewrap is installed setuid, and then refuses options that contextd needs',
    remedy: `sudo chmod u-s ${path}, and allow user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1 (where the setting exists).`,
  };
}

export const USERNS_BAN_REFUSED: Shortfall = {
  missing: 'this kernel does not let bubblewrap forbid user namespaces inside (max_user_namespaces cannot be opened)',
  remedy: 'Update the kernel and bubblewrap; a bubblewrap without --disable-userns works too, the filter covers it.',
};

export const WSL_1: Shortfall = {
  missing: 'WSL 1 has no namespaces at all',
  remedy: 'Convert it to WSL 2, in PowerShell: wsl --list --verbose, then wsl --set-version <name> 2.',
};

const APPARMOR_PROFILE =
  'apt-get install -y apparmor-profiles && ' +
  'ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && ' +
  'apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict';

export function apparmorRestriction(facts: MachineFacts | null): Shortfall {
  const missing = 'unprivileged user namespaces are restricted by AppArmor (as on Ubuntu 24.04)';
  const lift = 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
  if (facts !== null && facts.container !== null)
    return { missing, remedy: `On the host of this container, as root: ${lift}.` };
  return {
    missing,
    remedy: `As root, install the profile that allows bubblewrap: ${APPARMOR_PROFILE}. Or, for the whole machine: ${lift}.`,
  };
}

export const NAMESPACES_USED_UP: Shortfall = {
  missing: 'the number of user namespaces is used up or set to 0',
  remedy:
    'sudo sysctl -w user.max_user_namespaces=15000 (and the same line in /etc/sysctl.d/contextd.conf, to keep it).',
};

export const DISK_FULL: Shortfall = {
  missing: 'the disk that holds contextd’s data is full',
  remedy: 'Free some space there (df -h shows bytes, df -i files), then call again.',
};

/** The options with which a container must be started to hold sandboxes. */
function containerOptions(container: NonNullable<MachineFacts['container']>): string {
  switch (container) {
    case 'docker':
      return (
        'Start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined ' +
        '--security-opt systempaths=unconfined (--cap-add SYS_ADMIN does the work of the first).'
      );
    case 'podman':
      return (
        'Start the container with --security-opt seccomp=unconfined --security-opt label=disable ' +
        '--security-opt unmask=ALL.'
      );
    case 'kubernetes':
      return (
        'In the pod: hostUsers: false, and in the container’s securityContext seccompProfile: {type: Unconfined}, ' +
        'appArmorProfile: {type: Unconfined}, procMount: Unmasked.'
      );
    case 'lxc':
      return 'On the host: lxc config set <container> security.nesting true, then restart it.';
    case 'other':
      return 'Let the container’s manager allow user namespaces and an unmasked /proc, or run contextd outside of it.';
  }
}

const WHO_FORBIDS = {
  docker: 'Docker does so by default',
  podman: 'Podman does so by default',
  kubernetes: 'Kubernetes does so by default',
  lxc: 'LXC does so by default',
  other: 'its manager does so',
} as const;

/** The container forbids something that a sandbox needs; `what` is a phrase. */
export function containerForbids(container: NonNullable<MachineFacts['container']>, what: string): Shortfall {
  return {
    missing: `the container forbids ${what} (${WHO_FORBIDS[container]})`,
    remedy: containerOptions(container),
  };
}

export function namespacesOff(facts: MachineFacts | null): Shortfall {
  if (facts?.container != null) return containerForbids(facts.container, 'user namespaces');
  const clone = facts?.sysctls.unprivilegedUsernsClone;
  if (facts?.sysctls.maxUserNamespaces === 0) return NAMESPACES_USED_UP;
  if (facts?.sysctls.apparmorRestrictUserns === 1) return apparmorRestriction(facts);
  return {
    missing: `unprivileged user namespaces are off${clone === 0 ? ' (kernel.unprivileged_userns_clone=0)' : ''}`,
    remedy:
      clone === 0
        ? 'sudo sysctl -w kernel.unprivileged_userns_clone=1 (and the same line in /etc/sysctl.d/contextd.conf, to keep it).'
        : 'sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000; a kernel without CONFIG_USER_NS cannot.',
  };
}

export function missingPrograms(facts: MachineFacts | null): Shortfall {
  const names = facts === null || facts.missingPrograms.length === 0 ? ['setpriv', 'unshare'] : facts.missingPrograms;
  return {
    missing: `${names.join(' and ')} of util-linux ${names.length === 1 ? 'is' : 'are'} not installed`,
    remedy: `${installCommand('util-linux', facts)}.`,
  };
}

/** `refused`: there is a filter, but the kernel does not accept it. */
export function noSeccomp(facts: MachineFacts, refused: boolean): Shortfall {
  return refused || !facts.seccomp
    ? {
        missing: 'a seccomp filter (this kernel does not accept one)',
        remedy: 'Use a kernel with CONFIG_SECCOMP_FILTER; some emulated kernels (gVisor, WSL 1) have none.',
      }
    : {
        missing: `a seccomp filter (contextd has none for ${facts.arch})`,
        remedy: 'Run contextd on x86-64 or 64-bit ARM.',
      };
}

export function nestableNamespaces(facts: MachineFacts): Shortfall {
  return {
    missing: 'a ban on user namespaces inside (this bubblewrap is older than 0.8)',
    remedy: `Update bubblewrap to 0.8 or later: ${installCommand('bubblewrap', facts)}.`,
  };
}

/** A namespace that bubblewrap was asked for but the kernel does not have. */
export function missingNamespace(name: string): Shortfall {
  return { missing: `a ${name} namespace`, remedy: `Use a kernel that has ${name} namespaces.` };
}

export const ROOT_OWNED: Shortfall = {
  missing: 'an unprivileged user inside (the workspace belongs to root)',
  remedy: 'Give the workspace to an ordinary user (chown -R USER), or run contextd as one.',
};

export const ROOT_WITHOUT_CGROUP: Shortfall = {
  missing: 'a pids cgroup, without which nothing limits the processes of uid 0 (the workspace belongs to root)',
  remedy:
    'Give the workspace to an ordinary user (chown -R USER), or start contextd where it can write the memory and pids cgroups.',
};

/** Why there is no writable cgroup, and how to get one. */
export function noCgroup(facts: MachineFacts): Shortfall {
  return {
    missing: 'memory, process and processor limits for the whole sandbox (no writable cgroup)',
    remedy: `${cgroupRemedy(facts)} Until then the limits hold per process, with a watchdog.`,
  };
}

function cgroupRemedy(facts: MachineFacts): string {
  const { cgroup, container } = facts;
  if (!cgroup.memoryController)
    return 'The kernel was started without the memory controller: add cgroup_enable=memory to its command line and reboot.';
  if (facts.wsl === 2 && !facts.systemd)
    return 'systemd is off in this WSL 2: put "[boot]" and "systemd=true" into /etc/wsl.conf, run wsl --shutdown in PowerShell, then systemd-run --user --scope -p Delegate=yes ctxd server start.';
  if (container !== null) return containerCgroup(container);
  if (cgroup.v1 !== null && (cgroup.v2 === null || cgroup.v2.controllers.length === 0))
    return 'Only root can write this system’s cgroup v1: boot with systemd.unified_cgroup_hierarchy=1 for v2, or run contextd as root.';
  return facts.systemd ? systemdCgroup(facts.uid) : PLAIN_CGROUP;
}

function systemdCgroup(uid: number): string {
  const user = uid === 0 ? '' : ' --user';
  return `Start contextd in a delegated cgroup: ctxd server stop; systemd-run${user} --scope -p Delegate=yes ctxd server start. Or run it as a unit with Delegate=yes.`;
}

const PLAIN_CGROUP =
  'As root: mkdir /sys/fs/cgroup/contextd; echo "+memory +pids +cpu" >/sys/fs/cgroup/cgroup.subtree_control; ' +
  'chown -R USER /sys/fs/cgroup/contextd; echo PID >/sys/fs/cgroup/contextd/cgroup.procs with the pid of the shell that then runs ctxd server start.';

function containerCgroup(container: NonNullable<MachineFacts['container']>): string {
  switch (container) {
    case 'docker':
      return 'Start the container with --cgroupns=private --security-opt writable-cgroups=true (Docker 28 or later).';
    case 'podman':
      return 'Start the container with --cgroupns=private --security-opt unmask=/sys/fs/cgroup.';
    case 'kubernetes':
      return 'Use a node that gives pods writable cgroups; else give the pod resources.limits of its own.';
    case 'lxc':
    case 'other':
      return 'Let the container’s manager delegate a writable cgroup.';
  }
}

export function noCpuController(facts: MachineFacts): Shortfall {
  return {
    missing: 'a processor limit (the cpu controller was not delegated)',
    remedy: facts.systemd
      ? 'As root: systemctl set-property user@$UID.service Delegate="cpu memory pids", then log in again.'
      : 'Let the parent cgroup enable it: echo +cpu >cgroup.subtree_control there.',
  };
}
