import type { MachineFacts } from './facts.ts';
import type { Shortfall } from './remedies.ts';

/** Why there is no cgroup to write, and how to get one. */
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
    missing: 'a processor limit (the cpu controller was not handed down)',
    remedy: facts.systemd
      ? 'As root: systemctl set-property user@$UID.service Delegate="cpu memory pids", then log in again.'
      : 'Let the parent cgroup enable it: echo +cpu >cgroup.subtree_control there.',
  };
}
