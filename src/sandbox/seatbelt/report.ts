import type { IsolationLayer, IsolationReport } from '../sandbox.ts';

const LINUX = 'For full isolation run contextd in a Linux virtual machine.';

/** What macOS can and cannot do here; the same on every Mac. `version`: the kernel's. */
export function seatbeltReport(version: string, isRoot: boolean): IsolationReport {
  const layers = [
    layer('file system', 'the sandbox profile'),
    layer('network', 'the sandbox profile'),
    layer('inter-process communication', 'the sandbox profile'),
    layer('pid namespace', null, 'processes of others are visible, but cannot be signalled'),
    layer('whole-tree kill', null, 'the process group; a process that leaves its group outlives the command'),
    layer('seccomp filter', null, 'nothing: system calls are not filtered'),
    layer('memory limit', null, 'nothing'),
    layer('pids limit', null, 'a limit on all processes of the user together'),
    layer('cpu limit', null, 'the time limit only'),
    layer('total limit', null, 'nothing'),
    isRoot
      ? layer('unprivileged user', null, 'nothing: contextd runs as root')
      : layer('unprivileged user', 'the user contextd runs as'),
  ];
  return {
    level: 'reduced',
    missing: layers.filter(({ enforced }) => !enforced).map(({ name }) => name),
    remedy: LINUX,
    backend: 'seatbelt',
    version,
    layers,
  };
}

function layer(name: string, enforcedBy: string | null, instead = ''): IsolationLayer {
  return enforcedBy === null
    ? { name, enforced: false, by: instead, remedy: LINUX }
    : { name, enforced: true, by: enforcedBy, remedy: null };
}

export function seatbeltUnavailable(version: string, reason: string, remedy: string): IsolationReport {
  return { level: 'unavailable', missing: [reason], remedy, backend: 'seatbelt', version, layers: [] };
}
