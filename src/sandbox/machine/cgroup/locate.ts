import { resolve } from 'node:path';
import { isWithin } from '../../../core/paths.ts';

/** The directory of the spawner's own group in each hierarchy. */
export interface CgroupPlaces {
  /** By controller; null unless memory and pids exist. */
  readonly v1: V1Places | null;
  readonly v2: string | null;
}

export interface V1Places {
  readonly memory: string;
  readonly pids: string;
  readonly cpu: string | null;
}

interface CgroupMount {
  readonly root: string;
  readonly at: string;
  readonly version: 1 | 2;
  readonly controllers: readonly string[];
}

/** Pure: from the text of /proc/self/mountinfo and /proc/self/cgroup. */
export function locateCgroups(mountinfo: string, selfCgroup: string): CgroupPlaces {
  const mounts = mountinfo.split('\n').flatMap(parseMount);
  const own = ownPaths(selfCgroup);
  const v1 = (controller: string): string | null => {
    const mount = mounts.find((one) => one.version === 1 && one.controllers.includes(controller));
    return mount === undefined ? null : placeIn(mount, own.get(controller) ?? '/');
  };
  const unified = mounts.find((one) => one.version === 2);
  const [memory, pids] = [v1('memory'), v1('pids')];
  return {
    v1: memory !== null && pids !== null ? { memory, pids, cpu: v1('cpu') } : null,
    v2: unified === undefined ? null : placeIn(unified, own.get('') ?? '/'),
  };
}

/** `36 35 0:31 ROOT AT options - cgroup source super,options,memory` */
function parseMount(line: string): CgroupMount[] {
  const [left, right] = line.split(' - ');
  const [, , , root, at] = left?.split(' ') ?? [];
  const [type, , options] = right?.split(' ') ?? [];
  if (root === undefined || at === undefined || options === undefined) return [];
  if (type === 'cgroup') return [{ root, at, version: 1, controllers: options.split(',') }];
  return type === 'cgroup2' ? [{ root, at, version: 2, controllers: [] }] : [];
}

/** `4:memory:/path` for each controller, `0::/path` for v2, as the key ''. */
function ownPaths(text: string): Map<string, string> {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const match = /^\d+:([^:]*):(.+)$/.exec(line);
    if (match?.[1] === undefined || match[2] === undefined) continue;
    for (const controller of match[1].split(',')) paths.set(controller, match[2]);
  }
  return paths;
}

/**
 * A container sees part of the tree: the own path is relative to the mount's root, or the mount itself is the group.
 */
function placeIn(mount: CgroupMount, path: string): string {
  const root = mount.root === '/' ? '' : mount.root;
  const below = isWithin(root, path) ? path.slice(root.length) : '';
  return resolve(mount.at, `.${below}`);
}
