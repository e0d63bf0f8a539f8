import type { MachineFacts } from './facts.ts';
import {
  apparmorRestriction,
  containerForbids,
  DISK_FULL,
  missingPrograms,
  NAMESPACES_USED_UP,
  namespacesOff,
  oldBubblewrap,
  type Shortfall,
  setuidBubblewrap,
  USERNS_BAN_REFUSED,
  WSL_1,
} from './remedies.ts';

interface Failure {
  readonly says: RegExp;
  explain(facts: MachineFacts | null, match: RegExpExecArray): Shortfall;
}

/** What bubblewrap, its launcher and the build of the skeleton print when they fail. The first match counts. */
const FAILURES: readonly Failure[] = [
  {
    // Node's message about files; bubblewrap's message about namespaces is below.
    says: /ENOSPC: no space left on device|EDQUOT/,
    explain: () => DISK_FULL,
  },
  {
    says: /setting up uid map: Permission denied|RTM_NEWADDR: (Operation not permitted|Permission denied)/,
    explain: apparmorRestriction,
  },
  { says: /setuid/, explain: setuidBubblewrap },
  {
    says: /cannot open \/proc\/sys\/user\/max_user_namespaces: Permission denied/,
    explain: (facts) => (isSetuid(facts) ? setuidBubblewrap(facts) : USERNS_BAN_REFUSED),
  },
  {
    says: /max_\*_namespaces exceeded|namespace.*ENOSPC|unshare.*No space left on device|No space left on device/,
    explain: () => NAMESPACES_USED_UP,
  },
  {
    says: /No permissions to create new namespace|does not support user namespaces|Creating new namespace failed/,
    explain: namespacesOff,
  },
  { says: /Can't mount proc/, explain: explainProc },
  {
    says: /Failed to make \/ slave|Failed to mount tmpfs|pivot_root: /,
    explain: (facts) =>
      facts?.container == null ? unknown('mounting is refused') : containerForbids(facts.container, 'mounting'),
  },
  {
    says: /^nsenter: /m,
    explain: () => ({
      missing: 'a network namespace cannot be joined (nsenter was refused)',
      remedy:
        'Let this user enter namespaces: outside a container, or with AppArmor and seccomp rules of the container that allow setns.',
    }),
  },
  {
    says: /(setpriv|unshare|prlimit): (not found|unrecognized option|unknown option)|failed to execute (setpriv|bwrap|nsenter)|execvp prlimit|spawn nsenter ENOENT/i,
    explain: missingPrograms,
  },
  {
    says: /unshare failed|unshare: cannot|mount: .*(permission denied|not permitted)/i,
    explain: () => ({
      missing: 'this root user may not mount (no CAP_SYS_ADMIN), so it cannot become the workspace’s owner',
      remedy: 'Run contextd as the user who owns the workspace, or start the container with --cap-add SYS_ADMIN.',
    }),
  },
  { says: /Unknown option (\S+)/, explain: (facts, match) => oldBubblewrap(facts, match[1] ?? 'an option') },
];

/** True if a sandbox did not start because the kernel does not accept its filter. */
export function isFilterRefused(stderr: string): boolean {
  return /PR_SET_SECCOMP|seccomp/i.test(stderr);
}

/**
 * Explains the stderr of a sandbox that did not start, using what is known of the machine. Shows an unknown message as
 * it is.
 */
export function explainFailure(stderr: string, facts: MachineFacts | null = null): Shortfall {
  if (facts?.wsl === 1) return WSL_1;
  for (const failure of FAILURES) {
    const match = failure.says.exec(stderr);
    if (match !== null) return failure.explain(facts, match);
  }
  const said = stderr.trim().split('\n').at(-1) ?? '';
  return unknown(said.slice(0, 300));
}

function explainProc(facts: MachineFacts | null): Shortfall {
  if (facts?.container != null) return containerForbids(facts.container, 'a new /proc by masking parts of its own');
  if (facts?.hidepid === true)
    return {
      missing: 'a new /proc cannot be mounted (/proc is mounted with hidepid)',
      remedy: 'sudo mount -o remount,hidepid=0 /proc, and remove hidepid from /etc/fstab.',
    };
  return {
    missing: 'a new /proc cannot be mounted (parts of this one are covered)',
    remedy:
      'In a container, start it with --security-opt systempaths=unconfined; else run contextd where /proc is whole.',
  };
}

function isSetuid(facts: MachineFacts | null): boolean {
  return facts?.bubblewrap != null && (facts.bubblewrap.mode & 0o4000) !== 0;
}

function unknown(said: string): Shortfall {
  return {
    missing: `the sandbox did not start${said === '' ? '' : `: ${said}`}`,
    remedy: 'Run `ctxd doctor`, and bwrap --unshare-all --ro-bind / / true to see what the system refuses.',
  };
}
