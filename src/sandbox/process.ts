import { closeSync } from 'node:fs';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { ContextdError } from '../core/errors.ts';
import { Jail } from './bubblewrap.ts';
import type { Launch } from './launch.ts';
import type { PipeEnds } from './pipes.ts';
import type { SandboxProcess } from './sandbox.ts';

/** stdin, output, output, channel: what a tool process inherits before bubblewrap's own descriptors. */
export const PROCESS_FDS = 4;

export interface ProcessEvents {
  /** Once, as soon as it is spawned. */
  readonly onStart: (jail: Jail) => void;
  /** Once, when nothing of it is alive; `exited` waits for it. */
  readonly onEnd: () => Promise<void>;
}

/** Starts a prepared sandbox and leaves it running. Takes over the pipe's descriptors. */
export function openProcess(launch: Launch, output: PipeEnds, events: ProcessEvents): SandboxProcess {
  const stderr = new Socket({ fd: output.read, readable: true, writable: false });
  stderr.on('error', () => {});
  const jail = spawnJail(launch, output, stderr);
  events.onStart(jail);
  const exited = jail.exited
    .then(({ code, signal }) => ({ code: signal === null ? code : null, signal }))
    .catch(() => ({ code: null, signal: null }))
    .finally(() => events.onEnd().catch(() => {}));
  const channel = jail.child.stdio[PROCESS_FDS - 1];
  if (!(channel instanceof Duplex)) throw noChannel(jail);
  channel.on('error', () => {});
  return {
    channel,
    stderr,
    exited,
    async kill() {
      jail.kill();
      await exited;
    },
  };
}

function spawnJail(launch: Launch, output: PipeEnds, stderr: Socket): Jail {
  try {
    return new Jail(launch, ['ignore', output.write, output.write, 'pipe']);
  } catch (cause) {
    stderr.destroy();
    throw cause;
  } finally {
    closeSync(output.write);
  }
}

function noChannel(jail: Jail): ContextdError {
  jail.kill();
  return new ContextdError('SANDBOX_UNAVAILABLE', 'the tool process could not be spawned', {
    remedy: 'Check the limits on processes and open files of the daemon (ulimit -u, ulimit -n).',
  });
}
