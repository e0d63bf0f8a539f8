import { ENVIRONMENT, MACHINE, PROCESSES } from './environment.ts';
import { FILES } from './files.ts';
import { KERNEL } from './kernel.ts';
import { LIMIT_PROBES } from './limits.ts';
import { NETWORK } from './network.ts';
import type { ProbeGroup } from './probe.ts';
import { PROJECT } from './project.ts';

export const PROBE_GROUPS: readonly ProbeGroup[] = [
  FILES,
  ENVIRONMENT,
  PROCESSES,
  NETWORK,
  KERNEL,
  PROJECT,
  LIMIT_PROBES,
  MACHINE,
];
