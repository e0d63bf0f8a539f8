import type { QuarantinedItem__Output as QuarantinedItem } from '../protocol/generated/management.ts';

/** Whether a path was only reported: it is where the call left it. */
export function isReported({ path, moved }: Pick<QuarantinedItem, 'path' | 'moved'>): boolean {
  return path === moved;
}
