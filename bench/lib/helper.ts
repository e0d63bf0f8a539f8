import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A process that does one piece of work per request and reports how long it took. */
export interface Helper {
  /** Returns milliseconds, measured in the helper. `task` is passed to its program. */
  run(task: unknown): Promise<number>;
  stop(): Promise<void>;
}

/** The answer of a helper. */
export type HelperAnswer = { ms: number } | { fault: string };

/** `program`: a file in this directory. Rejects if the helper does not get ready. */
export async function startHelper(program: string, env: Record<string, string>): Promise<Helper> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = fork(path, [], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await answerOf(child);
  return {
    run(task) {
      const answer = answerOf(child);
      child.send({ task });
      return answer;
    },
    async stop() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.disconnect();
      await gone;
    },
  };
}

function answerOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the helper process ended'));
    child.once('exit', ended);
    child.once('message', (answer: HelperAnswer) => {
      child.off('exit', ended);
      if ('ms' in answer) resolve(answer.ms);
      else reject(new Error(answer.fault));
    });
  });
}

/** The helper's side: reports that it is ready, then serves until the parent is gone. */
export function serveHelper<Task>(work: (task: Task) => Promise<void>): void {
  const answer = (message: HelperAnswer): boolean | undefined => process.send?.(message);
  process.on('message', ({ task }: { task: Task }) => {
    const start = performance.now();
    work(task).then(
      () => answer({ ms: performance.now() - start }),
      (fault: unknown) => answer({ fault: String(fault) }),
    );
  });
  process.once('disconnect', () => process.exit());
  answer({ ms: 0 });
}
