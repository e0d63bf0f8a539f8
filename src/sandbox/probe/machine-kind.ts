import type { FactReaders } from './facts.ts';

export type ContainerKind = 'docker' | 'podman' | 'kubernetes' | 'lxc' | 'other';

/** The package manager decides how a missing program is installed. */
export interface Distribution {
  /** For a person; "" when the system does not say. */
  readonly name: string;
  readonly packages: 'apt' | 'dnf' | 'pacman' | 'zypper' | 'apk' | 'nix' | null;
}

const PACKAGES_BY_ID: Readonly<Record<string, Distribution['packages']>> = {
  debian: 'apt',
  ubuntu: 'apt',
  fedora: 'dnf',
  rhel: 'dnf',
  centos: 'dnf',
  amzn: 'dnf',
  arch: 'pacman',
  suse: 'zypper',
  opensuse: 'zypper',
  'opensuse-leap': 'zypper',
  'opensuse-tumbleweed': 'zypper',
  sles: 'zypper',
  alpine: 'apk',
  nixos: 'nix',
};

/** Pure: from the text of /etc/os-release. A derivative names what it is like. */
export function distributionOf(osRelease: string): Distribution {
  const value = (key: string): string =>
    new RegExp(`^${key}=(["']?)(.*)\\1$`, 'm').exec(osRelease)?.[2]?.trim().toLowerCase() ?? '';
  const ids = [value('ID'), ...value('ID_LIKE').split(/\s+/)];
  const known = ids.map((id) => PACKAGES_BY_ID[id]).find((packages) => packages !== undefined);
  return { name: value('ID'), packages: known ?? null };
}

/** Marks of a container, the most telling first: a pod is also a container of some runtime. */
export function containerOf({ read, stat }: Pick<FactReaders, 'read' | 'stat'>): ContainerKind | null {
  const groups = `${read('/proc/self/cgroup') ?? ''}${read('/proc/1/cgroup') ?? ''}`;
  const root = (read('/proc/self/mountinfo') ?? '').split('\n').find((line) => line.split(' ')[4] === '/') ?? '';
  const manager = `${read('/run/systemd/container') ?? ''}${read('/run/host/container-manager') ?? ''}`.trim();
  if (stat('/var/run/secrets/kubernetes.io') !== null || /kubepods/.test(groups)) return 'kubernetes';
  if (stat('/run/.containerenv') !== null || /libpod/.test(groups) || manager === 'podman') return 'podman';
  if (stat('/.dockerenv') !== null || /\/docker[/-]/.test(groups) || /\/docker\//.test(root) || manager === 'docker')
    return 'docker';
  if (/\/lxc[/.]/.test(groups) || manager === 'lxc') return 'lxc';
  return manager === '' || manager === 'wsl' ? null : 'other';
}

/** WSL 1 translates system calls and has no kernel; WSL 2 is a kernel in a virtual machine. */
export function wslOf({ read, stat, kernel }: Pick<FactReaders, 'read' | 'stat' | 'kernel'>): 1 | 2 | null {
  const version = `${kernel} ${read('/proc/version') ?? ''}`;
  if (/WSL2|microsoft-standard/i.test(version)) return 2;
  if (/-Microsoft\b/.test(version)) return 1;
  return stat('/proc/sys/fs/binfmt_misc/WSLInterop') === null ? null : 2;
}
