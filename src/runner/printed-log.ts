import type { Logger } from '../core/log.ts';

const LINES_MAX = 100;
const TEXT_MAX_CHARS = 4_096;

/**
 * What a tool process prints goes to the log, masked there: pieces of at most 4,096 characters, the first hundred of a
 * process. Printing is no answer, so nobody else reads it.
 */
export class PrintedLog {
  readonly #project: string;
  readonly #logger: Logger;
  #lines = 0;

  constructor(project: string, logger: Logger) {
    this.#project = project;
    this.#logger = logger;
  }

  add(channel: 'stdout' | 'stderr', data: Buffer): void {
    this.#lines += 1;
    if (this.#lines > LINES_MAX) return;
    const printed = data
      .subarray(0, 4 * TEXT_MAX_CHARS)
      .toString('utf8')
      .slice(0, TEXT_MAX_CHARS);
    const isLast = this.#lines === LINES_MAX;
    this.#logger.warn('tool.printed', { project: this.#project, channel, printed, ...(isLast ? { last: true } : {}) });
  }
}
