import type { Environment } from '../config/env.ts';
import { loadConfig } from '../config/load.ts';
import { ensureDirectories, type Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import { ERROR_TABLE } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { ensureVacant } from '../server/probe.ts';
import type { ComposeDeps } from './compose.ts';
import { type Composition, startParts, stopParts } from './lifecycle.ts';
import { createFileSink, createStderrSink } from './log-sink.ts';
import { createLogger } from './logger.ts';
import { startAlone } from './single-instance.ts';
import { createStopRequest, type StopCause, watchSignals } from './stop-request.ts';

export interface Program {
  environment: Environment;
  paths: Paths;
  clock: Clock;
  compose(deps: ComposeDeps): Composition;
}

export interface ServeOptions {
  /** Log to stderr instead of the log file. */
  foreground: boolean;
}

interface Service {
  config: Config;
  logger: Logger;
  /** From the moment the parts are built, text is masked by them; until then it is withheld. */
  compose(requestStop: (graceMs: number, cause: StopCause) => void): Composition;
}

/** Runs the daemon until it is asked to stop and has stopped. Throws when it cannot start. */
export async function serve(program: Program, { foreground }: ServeOptions): Promise<void> {
  const { paths, clock } = program;
  await ensureDirectories(paths);
  await ensureVacant(paths);
  const { config, logger, compose } = await prepare(program, foreground);
  const stop = createStopRequest();
  watchSignals({ stop, drainMs: config.server.drain_ms, foreground, logger });
  watchCrashes(logger);
  const composition = await startAlone(() => start(compose(stop.request), logger), { probe: paths, clock, logger });
  logger.info('daemon.ready', { pid: process.pid, start_ms: Math.round(process.uptime() * 1000) });
  const { graceMs, cause } = await stop.requested;
  const { waited, ended } = await composition.drain(graceMs, cause);
  logger.info('daemon.stopping', { cause, drained: ended === 0, calls_waited: waited, calls_ended: ended });
  await stopParts(composition.parts, logger);
  logger.info('daemon.stopped', { pid: process.pid });
}

async function prepare({ environment, paths, clock, compose }: Program, foreground: boolean): Promise<Service> {
  const config = await loadConfig(paths);
  let mask = (_text: string): string => '[withheld]';
  let maskLater = async (texts: readonly string[]): Promise<readonly string[]> => texts.map((text) => mask(text));
  const sink = foreground ? createStderrSink() : createFileSink(paths.logFile);
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
    compose(requestStop) {
      const composition = compose({ environment, paths, config, clock, logger, requestStop });
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

/** A fault nobody foresaw leaves a state nobody knows: it is logged and the process ends, to be started afresh. */
function watchCrashes(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.error('daemon.crashed', {}, error);
    process.exit(ERROR_TABLE.INTERNAL_ERROR.exitCode);
  });
  process.on('warning', (warning) =>
    logger.debug('daemon.warning', { warning: `${warning.name}: ${warning.message}` }),
  );
}
