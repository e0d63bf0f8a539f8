import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { readStatuses, SCRIPT_FD } from './pipe-status.ts';
import type { StartedSandbox } from './starter.ts';

/** Statuses of the last pipeline. Call after the command has ended. */
export type PipeStatus = () => Promise<number[]>;

/** More than the statuses of 100 parts. */
const REPORT_MAX_CHARS = 512;

/** Of a command whose shell reports nothing. */
export const NO_STATUSES: PipeStatus = async () => [];

/** Collects what the shell reports on its socket. Call before the shell has its script. */
export function collectStatuses({ jail }: Pick<StartedSandbox, 'jail'>): PipeStatus {
  const socket = jail.child.stdio[SCRIPT_FD];
  if (!(socket instanceof Duplex)) return NO_STATUSES;
  let report = '';
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    if (report.length < REPORT_MAX_CHARS) report += chunk.toString('latin1');
  });
  return async () => {
    // It was sent before the shell ended, so it is read in the same round of the event loop at the latest.
    await setImmediate();
    return readStatuses(report);
  };
}
