import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Counted, CountTask, EncoderCost } from './encoder-main.ts';
import type { EncoderName } from './encoders.ts';

/** A process that has one encoder loaded. It can be killed while it counts, if it is too slow. */
export interface EncoderProcess {
  cost: EncoderCost;
  /** Returns null if the count takes longer than `limitMs`; the process is then dead. */
  count(task: CountTask, limitMs: number): Promise<Counted | null>;
  stop(): void;
}

/** Rejects if the encoder cannot be loaded. */
export async function startEncoder(name: EncoderName): Promise<EncoderProcess> {
  const program = fileURLToPath(new URL('./encoder-main.js', import.meta.url));
  const child = fork(program, [name], { execArgv: ['--expose-gc'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const cost = await answerOf<EncoderCost>(child);
  return {
    cost,
    async count(task, limitMs) {
      const limit = setTimeout(() => child.kill('SIGKILL'), limitMs);
      try {
        child.send(task);
        return await answerOf<Counted>(child);
      } catch (cause) {
        if (child.signalCode === 'SIGKILL') return null;
        throw cause;
      } finally {
        clearTimeout(limit);
      }
    },
    stop: () => void child.kill('SIGKILL'),
  };
}

function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('the process of the encoder ended'));
    child.once('exit', ended);
    child.once('message', (answer: Answer) => {
      child.off('exit', ended);
      resolve(answer);
    });
  });
}
