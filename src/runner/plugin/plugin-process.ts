import type { Readable } from 'node:stream';
import type { Logger } from '../../core/log.ts';
import type { PluginCertificate } from '../../protocol/plugin/certificate.ts';

/** A started tool process; `SandboxProcess` is one. */
export interface PluginProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles, never rejects, when nothing of the process is alive. */
  readonly exited: Promise<PluginExit>;
  /** Kills the whole tree and returns when it is dead. Idempotent. */
  kill(): Promise<void>;
  /** Host path of the directory in which both sides put their sockets. */
  readonly socketDir: string;
}

export interface PluginExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Who contextd is on the connections of one tool process. Made by `createCertificate`. */
export type HostCertificate = PluginCertificate;

export interface PluginOptions {
  /**
   * Directory that only the daemon can enter, on the file system of `socketDir`: the tool's sockets are moved here
   * before they are dialled, so that the tool cannot put a link in their place. What it holds after `stop` may go.
   */
  privateDir: string;
  /** What the tool's process calls `socketDir`. */
  insideSocketDir: string;
  certificate: HostCertificate;
  /** Milliseconds from now until the plugin must have answered its health check. Usually 10,000. */
  startTimeoutMs: number;
  /** Milliseconds a number of the broker may wait to be announced or dialled, and a ping for its answer. Usually 5,000. */
  brokerTimeoutMs: number;
  /** Milliseconds between the request to shut down and the kill. Usually 2,000. */
  graceMs: number;
  /** Whatever the process writes, unscrubbed: all of stderr, and what is on stdout after the handshake. */
  onOutput(channel: 'stdout' | 'stderr', data: Buffer): void;
  logger: Logger;
}

/** `it was killed by SIGKILL`, `it exited with code 3`. */
export function describeEnd({ code, signal }: PluginExit): string {
  return signal === null ? `it exited with code ${code ?? 'unknown'}` : `it was killed by ${signal}`;
}
