import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../config/env.ts';
import { loadConfig } from '../config/load.ts';
import { ensureDirectories, type Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock, Timer } from '../core/clock.ts';
import { ContextdError, ERROR_TABLE } from '../core/errors.ts';
import {
  type Composition,
  createStopRequest,
  type StopCause,
  startParts,
  stopParts,
  watchSignals,
} from '../core/lifecycle.ts';
import type { Logger } from '../core/log.ts';
import { createFileSink, type LogSink } from '../core/log-file.ts';
import { ensureVacant, type ProbeDeps } from '../doors/grpc/probe.ts';
import { Arrival } from '../features/hand-over/arrival.ts';
import { createLogger, createStderrSink } from '../features/shared/logger.ts';
import type { ComposeDeps } from './compose-deps.ts';

export interface Program {
  environment: Environment;
  paths: Paths;
  clock: Clock;
  timer: Timer;
  compose(deps: ComposeDeps): Composition;
}

export interface ServeOptions {
  /** Logs to stderr instead of the log file. */
  foreground: boolean;
  /**
   * A restart may go on in another process: the proxy or ctxd that started this one does not watch it, as a service manager or a
   * container does. Default: false.
   */
  replaceable?: boolean;
  /** Waits for the state of the daemon that started this one. Default: false. */
  takeOver?: boolean;
}

interface Service {
  config: Config;
  logger: Logger;
  sink: LogSink;
  /** Once built, the parts mask the text of log lines. Until then the text is withheld. */
  compose(requestStop: (graceMs: number, cause: StopCause) => void): Composition;
}

/** Runs the daemon until it is asked to stop and has stopped. Throws if it cannot start. */
export async function serve(
  program: Program,
  { foreground, replaceable = false, takeOver = false }: ServeOptions,
): Promise<void> {
  const { paths, clock } = program;
  await ensureDirectories(paths);
  const arrival = takeOver ? new Arrival() : undefined;
  if (arrival === undefined) await ensureVacant(paths);
  const { config, logger, sink, compose } = await prepare(program, {
    foreground,
    canHandOver: !foreground && (replaceable || takeOver),
    arrival,
  });
  const stop = createStopRequest();
  watchSignals({ stop, drainMs: config.server.drain_ms, foreground, logger });
  watchCrashes(logger);
  if (arrival !== undefined) void stop.requested.then(() => arrival.stops());
  const composition =
    arrival === undefined
      ? await startAlone(() => start(compose(stop.request), logger), { probe: paths, clock, logger })
      : await startAfter(arrival, compose(stop.request), logger);
  // The log belongs to the daemon that owns the state.
  sink.own?.();
  logger.info('daemon.ready', { pid: process.pid, start_ms: Math.round(process.uptime() * 1000) });
  const { graceMs, cause } = await stop.requested;
  const { waited, ended } = await composition.drain(graceMs, cause);
  logger.info('daemon.stopping', { cause, drained: ended === 0, calls_waited: waited, calls_ended: ended });
  sink.follow?.();
  await stopParts(composition.parts, logger);
  logger.info('daemon.stopped', { pid: process.pid });
}

/** Starts with the state of the daemon before. Until it has said that it is ready, that one goes on as before. */
async function startAfter(arrival: Arrival, composition: Composition, logger: Logger): Promise<Composition> {
  await arrival.receive();
  try {
    await startParts(composition.parts, logger);
  } catch (thrown) {
    arrival.failed(thrown);
    throw thrown;
  }
  arrival.done();
  return composition;
}

async function prepare(
  { environment, paths, clock, timer, compose }: Program,
  { foreground, canHandOver, arrival }: { foreground: boolean; canHandOver: boolean; arrival: Arrival | undefined },
): Promise<Service> {
  const config = await loadConfig(paths);
  let mask = (_text: string): string => '[withheld]';
  let maskLater = async (texts: readonly string[]): Promise<readonly string[]> => texts.map((text) => mask(text));
  const limits = { maxBytes: config.log.max_mb * 1024 * 1024, keptFiles: config.log.kept_files };
  const sink = foreground ? createStderrSink() : createFileSink(paths.logFile, limits);
  const logger = createLogger({
    level: config.log.level,
    sink,
    mask: (text) => mask(text),
    maskLater: (texts) => maskLater(texts),
  });
  process.once('exit', () => logger.flush());
  return {
    config,
    logger,
    sink,
    compose(requestStop) {
      const before = arrival === undefined ? {} : { arrival };
      const endNow = (): never => process.exit(ERROR_TABLE.INTERNAL_ERROR.exitCode);
      const leaveLog = (): void => sink.follow?.();
      const own = { environment, paths, config, clock, timer, logger, requestStop, endNow, leaveLog };
      const composition = compose({ ...own, ...before, canHandOver });
      mask = (text) => composition.mask(text);
      maskLater = composition.maskLater ?? maskLater;
      return composition;
    },
  };
}

async function start(composition: Composition, logger: Logger): Promise<Composition> {
  await startParts(composition.parts, logger);
  return composition;
}

interface SingleInstanceDeps {
  probe: ProbeDeps;
  clock: Clock;
  logger: Logger;
}

/** Milliseconds within which a stopping daemon, whose door is already closed, must release the state database. */
const HANDOVER_MS = 20_000;
const RETRY_MS = 50;

/**
 * Starts with `attempt`, which throws CONFLICT while another daemon holds the state database. If the other daemon
 * answers on the socket, the error names it. Otherwise it is stopping or still starting, and this one waits for it.
 */
export async function startAlone<T>(attempt: () => Promise<T>, deps: SingleInstanceDeps): Promise<T> {
  const until = deps.clock.monotonic() + HANDOVER_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!(thrown instanceof ContextdError) || thrown.code !== 'CONFLICT') throw thrown;
      await ensureVacant(deps.probe);
      if (deps.clock.monotonic() >= until) throw thrown;
      if (tries === 1) deps.logger.info('daemon.waiting_for_another_to_end');
      await delay(RETRY_MS);
    }
  }
}

/** Logs an unexpected error and ends the process, because the state is then unknown. */
function watchCrashes(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.error('daemon.crashed', {}, error);
    process.exit(ERROR_TABLE.INTERNAL_ERROR.exitCode);
  });
  process.on('warning', (warning) =>
    logger.debug('daemon.warning', { warning: `${warning.name}: ${warning.message}` }),
  );
}
