import { readSource, type SourceEnvironment } from '../../config/credential-source.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import type { Database } from '../../stores/sqlite.ts';
import { Distiller } from './distill/distiller.ts';
import { HttpLessonWriter, type LessonWriter } from './distill/lesson-writer.ts';
import type { Memories } from './memories.ts';
import { type RecordedCallsDeps, readRecordedCalls } from './recorded-calls.ts';
import { maskDrafts } from './sharing.ts';

export interface DistillerParts extends RecordedCallsDeps {
  config: Config['memory']['distill'];
  /** The memory database. */
  database: Database;
  memories: Memories;
  environment: SourceEnvironment;
  clock: Clock;
  timer: Timer;
  logger: Logger;
}

/** What makes memories of recorded calls, with the configured model if there is one. */
export function buildDistiller(parts: DistillerParts): Distiller {
  const { database, memories, scrubber, clock, logger } = parts;
  return new Distiller({
    database,
    memories,
    clock,
    logger,
    writer: writerOf(parts),
    readCalls: (project, requestIds) => readRecordedCalls(project, requestIds, parts),
    mask: (project, drafts) => maskDrafts(project, drafts, { scrubber, clock }),
  });
}

function writerOf({ config, environment, timer }: DistillerParts): LessonWriter | null {
  const { url, model, api_key_file: keyFile, timeout_ms: timeoutMs } = config;
  if (url === null) return null;
  return new HttpLessonWriter({
    url,
    model,
    timeoutMs,
    timer,
    async apiKey() {
      if (keyFile === null) return null;
      return readSource({ kind: 'file', path: keyFile }, new URL(url).hostname, environment);
    },
  });
}
