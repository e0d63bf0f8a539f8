import type { Environment } from '../config/env.ts';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock, Timer } from '../core/clock.ts';
import type { StopCause } from '../core/lifecycle.ts';
import type { Logger } from '../core/log.ts';
import type { Arrival } from '../features/hand-over/arrival.ts';
import type { UpstreamServers } from '../upstream/contract.ts';

/** The dependencies of every part of the daemon. */
export interface ComposeDeps {
  environment: Environment;
  paths: Paths;
  config: Config;
  clock: Clock;
  timer: Timer;
  logger: Logger;
  /** The MCP servers of projects. Default: those that a person added. */
  upstreams?: UpstreamServers;
  /** The daemon before, if it hands over its state. Default: none. */
  arrival?: Arrival;
  /** True if the daemon may be replaced by a process that it starts. Default: false. */
  canHandOver?: boolean;
  /** Starts an orderly shutdown. Calls in flight get `graceMs` milliseconds. */
  requestStop(graceMs: number, cause: StopCause): void;
  /** Ends the process at once: nothing that it does could be right any more. */
  endNow(): void;
  /** Another process rotates the log from now on. */
  leaveLog(): void;
}
