import type { Stats } from 'node:fs';
import { mayChangeUnseen } from '../../../fs/file-time.ts';
import type { FileState } from '../../contract/snapshot-messages.ts';
import { directoryState, stateOf } from './disk.ts';

/** A covered file. `ctimeMs` is -1 if the file may change without a new ctime. */
export interface Entry {
  readonly state: FileState;
  readonly bytes: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

/** `readAtMs`: what `earliestFileTime` said before the file was read. */
export function entryOf(stats: Stats, id: string, readAtMs: number): Entry {
  const isFresh = mayChangeUnseen(stats.ctimeMs, readAtMs);
  return { state: stateOf(stats, id), bytes: stats.size, ctimeMs: isFresh ? -1 : stats.ctimeMs, ino: stats.ino };
}

export function entryOfDirectory(stats: Stats): Entry {
  return { state: directoryState(stats), bytes: 0, ctimeMs: -1, ino: stats.ino };
}

export function isSame({ state, bytes, ctimeMs, ino }: Entry, stats: Stats): boolean {
  if (stats.isDirectory()) return state === directoryState(stats);
  if (ctimeMs !== stats.ctimeMs || ino !== stats.ino || bytes !== stats.size) return false;
  return state === stateOf(stats, state.slice(state.indexOf(' ') + 1));
}
