import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { readReport, SCRIPT_FD, type ShellReport } from './pipe-status.ts';
import type { StartedSandbox } from './starter.ts';

/** What the shell reported. Call after the command has ended. */
export type Collected = () => Promise<ShellReport>;

/** More than the statuses of 100 parts, and the longest path that Linux knows. */
const REPORT_MAX_BYTES = 512 + 4096;

/** Of a command whose shell reports nothing. */
export const NO_REPORT: Collected = async () => ({ pipeStatus: [] });

/** Collects what the shell reports on its socket. Call before the shell has its script. */
export function collectReport({ jail }: Pick<StartedSandbox, 'jail'>): Collected {
  const socket = jail.child.stdio[SCRIPT_FD];
  if (!(socket instanceof Duplex)) return NO_REPORT;
  const chunks: Buffer[] = [];
  let bytes = 0;
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    if (bytes < REPORT_MAX_BYTES) chunks.push(chunk);
    bytes += chunk.length;
  });
  return async () => {
    // It was sent before the shell ended, so it is read in the same round of the event loop at the latest.
    await setImmediate();
    return readReport(Buffer.concat(chunks).toString());
  };
}
