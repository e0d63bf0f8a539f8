import type { Grant } from '../core/profile.ts';
import { accessOf, isNetworkGrant, networkTarget, type ToolGrant, USUAL_LIMITS } from './grants.ts';
import type { ToolManifest } from './manifest.ts';

/** What a person lets a tool do by each of its grants, in plain words and in the order of `manifest.grants`. */
export function describeGrants({ grants }: Pick<ToolManifest, 'grants'>): string[] {
  return grants.map(describe);
}

const METHODS: Readonly<Record<Grant, string>> = {
  exec: 'run shell commands in the project, in a sandbox',
  scrub: 'have texts searched for the secrets of the session',
  log: 'write lines to the log of contextd',
  memory_search: 'search the memories of the project, and those that were promoted for all projects',
  memory_store: 'store memories for the project',
  checkpoint_save: 'save checkpoints of the session',
  checkpoint_restore: 'restore checkpoints of the session',
};

const RESOURCES: Readonly<Record<keyof typeof USUAL_LIMITS, (value: number) => string>> = {
  memory_mb: (value) => `use up to ${value} MiB of memory (usual: ${USUAL_LIMITS.memory_mb})`,
  timeout_ms: (value) => `run up to ${inSeconds(value)} s a call (usual: ${inSeconds(USUAL_LIMITS.timeout_ms)})`,
  pids: (value) => `run up to ${value} processes and threads (usual: ${USUAL_LIMITS.pids})`,
};

function inSeconds(ms: number): number {
  return Math.round(ms / 1000);
}

function describe(grant: ToolGrant): string {
  if (isMethod(grant)) return METHODS[grant];
  if (isNetworkGrant(grant)) return describeTarget(networkTarget(grant));
  const { paths, variables, limits } = accessOf([grant]);
  const sentences = [
    ...paths.map(({ path, isWritable }) => `read ${isWritable ? 'and change ' : ''}${path} and everything in it`),
    ...variables.map((name) => `see the variable ${name}, as tools.env of the configuration sets it`),
    ...Object.entries(limits).map(([name, value]) => (isResource(name) ? RESOURCES[name](value) : grant)),
  ];
  return sentences.join(', ');
}

/** A group has no dot in its name. */
function describeTarget(target: string): string {
  return target.includes('.') ? `reach ${target} over the network` : `reach the hosts of the group ${target}`;
}

function isMethod(grant: ToolGrant): grant is Grant {
  return Object.hasOwn(METHODS, grant);
}

function isResource(name: string): name is keyof typeof USUAL_LIMITS {
  return Object.hasOwn(USUAL_LIMITS, name);
}
