import { dirname, join } from 'node:path';
import { amount, type CgroupFiles, counter, type TotalLimits } from './files.ts';
import type { CgroupPlaces } from './locate.ts';

const KIB = 1024;
/** Of the machine's memory, for all sandboxes together, when nothing was configured. */
const SHARE = 3 / 4;

/**
 * The total limits, 0 memory replaced by three quarters of what this machine, or the group contextd itself lives in, has.
 * `meminfo`: the text of /proc/meminfo.
 */
export function resolveTotal(
  asked: TotalLimits,
  meminfo: string,
  places: CgroupPlaces,
  files: CgroupFiles,
): TotalLimits {
  if (asked.memoryBytes > 0) return asked;
  const machine = Number(/^MemTotal:\s+(\d+) kB$/m.exec(meminfo)?.[1] ?? Number.POSITIVE_INFINITY) * KIB;
  const memory = Math.min(machine, ...ownLimits(places, files).filter((bytes) => bytes > 0));
  return { memoryBytes: Math.floor(memory * SHARE), pids: asked.pids };
}

/** Memory limits of the own group and of those above it; 0 for what is not known. */
function ownLimits({ v1, v2 }: CgroupPlaces, files: CgroupFiles): number[] {
  const inherited = v1 === null ? 0 : counter(files.read(join(v1.memory, 'memory.stat')), 'hierarchical_memory_limit');
  return [inherited, ...limitsUpwards(v2, files)];
}

/** The root of the hierarchy has no `memory.max`. */
function limitsUpwards(place: string | null, files: CgroupFiles): number[] {
  const limits: number[] = [];
  for (let dir = place; dir !== null && files.exists(join(dir, 'memory.max')); dir = dirname(dir)) {
    limits.push(amount(files.read(join(dir, 'memory.max'))));
  }
  return limits;
}
