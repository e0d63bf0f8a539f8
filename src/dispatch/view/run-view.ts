import { Worker } from 'node:worker_threads';
import { untilAborted, within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import { ownProgram } from '../../core/own-program.ts';
import { unpackError } from '../../core/wire-error.ts';
import { renderView, type ViewedOutput, type ViewRequest } from '../../tokens/views/render-view.ts';
import type { ViewReply } from './thread/messages.ts';

/** Maximum characters for a view on the main thread. A longer text would block every other call. */
const AT_ONCE_MAX_CHARS = 512 * 1024;
/** The same limit for patterns with counted repetitions, which may take seconds per megabyte. */
const COUNTED_MAX_CHARS = 8 * 1024;
/** Enough for a copy of the largest output, its JSON and the view. */
const THREAD_MAX_MB = 2_048;
const THREADS_AT_ONCE = 2;

/** Makes views. Long texts go to worker threads, at most two at a time. */
export interface ViewMaker {
  /** Throws VIEW_FAILED if the view cannot be made within `timeoutMs`, and the signal's reason if it aborts. */
  make(request: ViewRequest, limits: { timeoutMs: number; signal: AbortSignal }): Promise<ViewedOutput>;
}

export function createViewMaker(): ViewMaker {
  const waiting: (() => void)[] = [];
  let running = 0;
  const enter = async (): Promise<void> => {
    if (running >= THREADS_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
  };
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };
  return {
    async make(request, limits) {
      const chars = [...request.streams, ...(request.earlier ?? [])].reduce((sum, { text }) => sum + text.length, 0);
      if (chars <= atOnceMax(request)) return renderView(request);
      await enter();
      try {
        return await inThread(request, limits);
      } finally {
        leave();
      }
    },
  };
}

function atOnceMax({ view }: ViewRequest): number {
  switch (view.name) {
    case 'head':
    case 'tail':
    case 'head_tail':
      // These only count line ends from one side, which is faster than starting a thread.
      return Number.POSITIVE_INFINITY;
    case 'grep':
      return view.pattern.includes('{') ? COUNTED_MAX_CHARS : AT_ONCE_MAX_CHARS;
    default:
      return AT_ONCE_MAX_CHARS;
  }
}

function inThread(request: ViewRequest, limits: { timeoutMs: number; signal: AbortSignal }): Promise<ViewedOutput> {
  const { promise, resolve, reject } = Promise.withResolvers<ViewedOutput>();
  const thread = new Worker(ownProgram(new URL('./thread/main.js', import.meta.url)), {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MAX_MB },
    env: {},
  });
  thread.once('message', (reply: ViewReply) =>
    'output' in reply ? resolve(reply.output) : reject(unpackError(reply.error)),
  );
  thread.once('error', (cause) => reject(failed(request, 'needs more memory than it may have', cause)));
  const view = within(limits.timeoutMs, untilAborted(promise, limits.signal), () => {
    throw failed(request, `took longer than ${limits.timeoutMs} ms`);
  });
  return view.finally(() => thread.terminate());
}

function failed({ view }: ViewRequest, why: string, cause?: unknown): ContextdError {
  return new ContextdError('VIEW_FAILED', `the view ${view.name} of so long an output ${why}`, {
    remedy: 'Ask for a narrower one: lines, grep, or a path that leads further in.',
    ...(cause === undefined ? {} : { cause }),
  });
}
