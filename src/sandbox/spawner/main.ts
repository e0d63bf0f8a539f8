import { Socket } from 'node:net';
import { systemClock } from '../../core/clock.ts';
import type { LogFields, Logger } from '../../core/log.ts';
import { LinuxSandbox } from '../linux-sandbox.ts';
import { MessageChannel } from './message-channel.ts';
import type { Request } from './messages.ts';
import { SpawnerService } from './serve.ts';
import { SPAWNER_FD } from './spawner-process.ts';

/**
 * The spawner: a small process that starts every sandbox, from its main thread, because a sandbox dies with the thread
 * that started it. It serves one daemon over an inherited socket; the end of that socket is its own end.
 */
function main(): void {
  let isEnding = false;
  const end = async (): Promise<void> => {
    if (isEnding) return;
    isEnding = true;
    await service.stop().catch((cause: unknown) => process.stderr.write(`${String(cause)}\n`));
    process.exit(0);
  };
  const socket = new Socket({ fd: SPAWNER_FD, readable: true, writable: true });
  const channel: MessageChannel = new MessageChannel(
    socket,
    // The daemon wrote it, and nothing but the daemon holds the other end.
    (header, body) => service.receive(header as unknown as Request, body),
    () => void end(),
  );
  const logger = logTo(channel);
  const service = new SpawnerService(
    channel,
    ({ paths, config }) => new LinuxSandbox({ paths, config, logger, clock: systemClock }),
  );
  process.on('SIGTERM', () => void end());
  process.on('SIGINT', () => {});
}

/** Log lines go to the daemon, which masks and writes them. */
function logTo(channel: MessageChannel): Logger {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: LogFields = {}, cause?: unknown): void => {
      const why = cause === undefined ? {} : { cause: String(cause) };
      channel.send({ re: 'log', level, event, fields: { ...fields, ...why } });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

main();
