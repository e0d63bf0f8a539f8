import { Worker } from 'node:worker_threads';
import { Channel } from '../../core/channel.ts';
import { within } from '../../core/deadline.ts';
import { Lock } from '../../core/lock.ts';
import { ownProgram } from '../../core/own-program.ts';
import type { JudgedText, Judgement } from './judgement.ts';
import type { RuleList } from './rule.ts';
import type { JudgeReply, JudgeRequest } from './thread/messages.ts';

/** Milliseconds for one text, whatever else the machine does. The parser reads an ordinary command in less than one. */
const DEADLINE_MS = 5_000;
const TEXT_MAX_CHARS = 1024 * 1024;
const THREAD_MAX_MB = 256;

interface Running {
  readonly thread: Worker;
  readonly channel: Channel<Omit<JudgeRequest, 'id'>, Judgement | null>;
}

/**
 * Reads commands in a thread of its own, because the text is an agent's: it may take the parser any time and memory. The
 * thread starts with the first text, and ends with a text that it cannot read in time.
 */
export class JudgeThread {
  readonly #turns = new Lock();
  #running: Running | null = null;

  /** False until the first text. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Null: the text cannot be read. */
  judge(judged: JudgedText, lists: readonly RuleList[]): Promise<Judgement | null> {
    const input = judged.input.kind === 'text' ? judged.input.text.length : 0;
    if (judged.text.length + input > TEXT_MAX_CHARS) return Promise.resolve(null);
    return this.#turns.run(() => this.#ask({ judged, lists }));
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.thread.terminate();
  }

  async #ask(request: Omit<JudgeRequest, 'id'>): Promise<Judgement | null> {
    const { channel } = this.#start();
    const late = async (): Promise<null> => {
      await this.stop();
      return null;
    };
    return within(
      DEADLINE_MS,
      channel.ask(request).catch(() => null),
      late,
    );
  }

  #start(): Running {
    if (this.#running !== null) return this.#running;
    const thread = new Worker(ownProgram(new URL('./thread/main.js', import.meta.url)), {
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MAX_MB },
      env: {},
    });
    const channel: Running['channel'] = new Channel((id, request) =>
      thread.postMessage({ id, ...request } satisfies JudgeRequest),
    );
    const running = { thread, channel };
    const end = (): void => {
      if (this.#running === running) this.#running = null;
      channel.close(new Error('the thread that reads commands has ended'));
    };
    thread.unref();
    thread.on('message', ({ id, judgement }: JudgeReply) => channel.resolve(id, judgement));
    thread.on('error', end);
    thread.on('exit', end);
    this.#running = running;
    return running;
  }
}
