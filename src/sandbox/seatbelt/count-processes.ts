import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Milliseconds a count is used before it is taken again. */
const FRESH_MS = 10_000;

/** How many processes this user has; 0 when it cannot be told. The count serves every run of ten seconds. */
export function countProcesses(): () => Promise<number> {
  let count: Promise<number> = Promise.resolve(0);
  let takenAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - takenAt > FRESH_MS) {
      takenAt = now;
      count = take();
    }
    return count;
  };
}

async function take(): Promise<number> {
  try {
    const uid = String(process.getuid?.() ?? 0);
    const { stdout } = await promisify(execFile)('/bin/ps', ['-U', uid, '-o', 'pid='], { env: {}, timeout: 2_000 });
    return stdout.trim().split('\n').length;
  } catch {
    return 0;
  }
}
