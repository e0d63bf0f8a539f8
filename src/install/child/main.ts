import { createInterface } from 'node:readline';
import { type FetchMessage, type FetchRequest, toFailed } from '../messages.ts';
import { runFetch } from './run-fetch.ts';

/**
 * The process that fetches one tool. Its standard input brings the request and then only stays open: when it closes, the
 * daemon is gone, and the whole process group ends at once.
 */
const input = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
input.once('line', (line) => void serve(line));
input.once('close', endGroup);

async function serve(line: string): Promise<void> {
  // The daemon wrote the line itself.
  const request: FetchRequest = JSON.parse(line);
  const answer = await runFetch(request, (progress) => send({ kind: 'progress', progress })).catch(toFailed);
  await send('dir' in answer ? { kind: 'done', tool: answer } : answer);
  process.exit(0);
}

function send(message: FetchMessage): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()));
}

function endGroup(): void {
  process.kill(-process.pid, 'SIGKILL');
}
