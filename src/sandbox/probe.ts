import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { promisify } from 'node:util';
import { isErrno } from '../core/errors.ts';
import type { BubblewrapFeatures } from './policy.ts';
import type { IsolationReport } from './sandbox.ts';

/** Where bubblewrap is looked for; never on the caller's PATH, which a project may steer. */
const BUBBLEWRAP_PLACES = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

export interface Bubblewrap {
  readonly path: string;
  /** As it names itself, such as `0.8.0`. */
  readonly version: string;
  readonly features: BubblewrapFeatures;
}

export interface Shortfall {
  readonly missing: string;
  readonly remedy: string;
}

/** The installed bubblewrap, or null. */
export async function findBubblewrap(places: readonly string[] = BUBBLEWRAP_PLACES): Promise<Bubblewrap | null> {
  const path = places.find(isExecutable);
  if (path === undefined) return null;
  const options = { env: { PATH: '/usr/bin:/bin' }, timeout: 5000 };
  const [version, help] = await Promise.all(
    ['--version', '--help'].map(async (flag) => (await promisify(execFile)(path, [flag], options)).stdout),
  );
  return { path, version: version?.trim().replace(/^bubblewrap /, '') ?? '', features: readFeatures(help ?? '') };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (cause) {
    if (isErrno(cause)) return false;
    throw cause;
  }
}

export function readFeatures(help: string): BubblewrapFeatures {
  return { disableUserns: help.includes('--disable-userns'), bindFd: help.includes('--ro-bind-fd') };
}

export const NO_BUBBLEWRAP: Shortfall = {
  missing: 'bubblewrap is not installed',
  remedy: 'apt-get install -y bubblewrap (dnf install bubblewrap, pacman -S bubblewrap), then start contextd again.',
};

export const NO_CGROUP: Shortfall = {
  missing: 'memory and process limits for the whole sandbox (no writable cgroup)',
  remedy:
    'Start contextd in a delegated cgroup: systemd-run --user --scope -p Delegate=yes contextd. Until then the limits hold per process.',
};

export const ROOT_OWNED: Shortfall = {
  missing: 'an unprivileged user inside (the workspace belongs to root)',
  remedy: 'Give the workspace to an ordinary user (chown -R USER), or run contextd as one.',
};

export const ROOT_WITHOUT_CGROUP: Shortfall = {
  missing: 'a pids cgroup, without which nothing bounds the processes of uid 0 (the workspace belongs to root)',
  remedy:
    'Give the workspace to an ordinary user (chown -R USER), or start contextd where it can write the memory and pids cgroups.',
};

export const OLD_BUBBLEWRAP: Shortfall = {
  missing: 'a ban on user namespaces inside (this bubblewrap is older than 0.8)',
  remedy: 'Update bubblewrap to 0.8 or later.',
};

/** What bubblewrap and its launcher say on stderr when they fail, and the exact way out. First match wins. */
const FAILURES: readonly { says: RegExp; missing: string; remedy: string }[] = [
  {
    says: /setting up uid map: Permission denied|RTM_NEWADDR: Operation not permitted|RTM_NEWADDR: Permission denied/,
    missing: 'unprivileged user namespaces are restricted by AppArmor (as on Ubuntu 24.04)',
    remedy:
      'Install the profile that allows bubblewrap: apt-get install -y apparmor-profiles && ' +
      'ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && ' +
      'apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict. Or, for the whole machine: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.',
  },
  {
    says: /max_\*_namespaces exceeded|ENOSPC|No space left on device/,
    missing: 'the number of user namespaces is used up or set to 0',
    remedy: 'sysctl -w user.max_user_namespaces=15000',
  },
  {
    says: /No permissions to create new namespace|does not support user namespaces|Creating new namespace failed/,
    missing: 'unprivileged user namespaces are off',
    remedy:
      'sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000. In a container, start it with ' +
      '--security-opt seccomp=unconfined --security-opt apparmor=unconfined (Docker forbids namespaces by default).',
  },
  {
    says: /Can't mount proc/,
    missing: 'a new /proc cannot be mounted (the container hides parts of its own)',
    remedy: 'Start the container with --security-opt systempaths=unconfined, or run contextd outside of it.',
  },
  {
    says: /unshare failed|unshare: cannot|mount: .*(permission denied|not permitted)/i,
    missing: 'this root user may not mount (no CAP_SYS_ADMIN), so it cannot become the workspace’s owner',
    remedy: 'Run contextd as the user who owns the workspace, or start the container with --cap-add SYS_ADMIN.',
  },
  {
    says: /unshare: not found|setpriv: not found|failed to execute (setpriv|bwrap)/,
    missing: 'setpriv and unshare are not installed',
    remedy: 'apt-get install -y util-linux',
  },
  {
    says: /Unknown option/,
    missing: 'this bubblewrap is too old',
    remedy: 'Update bubblewrap to 0.8 or later.',
  },
];

/** From the stderr of a sandbox that did not start. What is not known is shown as it is. */
export function explainFailure(stderr: string): Shortfall {
  const known = FAILURES.find((failure) => failure.says.test(stderr));
  if (known !== undefined) return { missing: known.missing, remedy: known.remedy };
  const said = stderr.trim().split('\n').at(-1) ?? '';
  return {
    missing: `the sandbox did not start${said === '' ? '' : `: ${said.slice(0, 300)}`}`,
    remedy: 'Run `ctxd doctor`, and bwrap --unshare-all --ro-bind / / true to see what the system refuses.',
  };
}

/** The report from what is missing: nothing is full; `blocked` is unavailable. */
export function composeReport(
  version: string | null,
  blocked: Shortfall | null,
  shortfalls: readonly Shortfall[],
): IsolationReport {
  const missing = blocked === null ? shortfalls : [blocked];
  return {
    level: blocked !== null ? 'unavailable' : missing.length === 0 ? 'full' : 'reduced',
    missing: missing.map((one) => one.missing),
    remedy: missing.length === 0 ? null : missing.map((one) => one.remedy).join(' '),
    backend: version === null ? 'none' : 'bubblewrap',
    version,
  };
}
