import type { Logger } from '../core/log.ts';
import type { SandboxProcess } from '../sandbox/sandbox.ts';

const KEPT_CHARS = 4_096;

/** Reads what a tool process prints, so that it never blocks, and logs the end of it when the process is over. */
export function logLastWords(process: SandboxProcess, logger: Logger): void {
  let kept = '';
  process.stderr.setEncoding('utf8');
  process.stderr.on('data', (text: string) => {
    kept = (kept + text).slice(-KEPT_CHARS);
  });
  process.stderr.on('error', () => {});
  void process.exited.then(({ code, signal }) => {
    const fields = { code, signal, printed: kept };
    if (kept === '') logger.debug('tool.exited', fields);
    else logger.warn('tool.exited', fields);
  });
}
