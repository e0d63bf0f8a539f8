import { Worker } from 'node:worker_threads';
import { ContextdError } from '../../core/errors.ts';
import { isErrorCode } from '../../protocol/tool-output.ts';
import { renderView, type ViewedOutput, type ViewRequest } from '../../tokens/views/render-view.ts';
import type { ViewReply } from './view-thread.ts';

/** A view of up to this many characters is made on the main thread; a longer text would block every other call. */
const AT_ONCE_MAX_CHARS = 512 * 1024;
/** The same limit for patterns with counted repetitions, whose search may take seconds per megabyte. */
const COUNTED_MAX_CHARS = 8 * 1024;
/** Enough for a copy of the largest output, its JSON and the view. */
const THREAD_MAX_MB = 2_048;
const THREADS_AT_ONCE = 2;

/** Makes views: those of long texts in worker threads, at most two at a time. */
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
  const thread = new Worker(new URL('./view-thread.js', import.meta.url), {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_MAX_MB },
    env: {},
  });
  const fail = (why: unknown): void => reject(why);
  const timer = setTimeout(() => fail(failed(request, `took longer than ${limits.timeoutMs} ms`)), limits.timeoutMs);
  const onAbort = (): void => fail(limits.signal.reason);
  limits.signal.addEventListener('abort', onAbort);
  thread.once('message', (reply: ViewReply) => ('output' in reply ? resolve(reply.output) : reject(faultOf(reply))));
  thread.once('error', (cause) => fail(failed(request, 'needs more memory than it may have', cause)));
  return promise.finally(() => {
    clearTimeout(timer);
    limits.signal.removeEventListener('abort', onAbort);
    return thread.terminate();
  });
}

function faultOf({ fault }: Extract<ViewReply, { fault: unknown }>): ContextdError {
  const { code, message, remedy, details } = fault;
  return new ContextdError(isErrorCode(code) ? code : 'VIEW_FAILED', message, {
    ...(remedy === undefined ? {} : { remedy }),
    details,
  });
}

function failed({ view }: ViewRequest, why: string, cause?: unknown): ContextdError {
  return new ContextdError('VIEW_FAILED', `the view ${view.name} of so long an output ${why}`, {
    remedy: 'Ask for a narrower one: lines, grep, or a path that leads further in.',
    ...(cause === undefined ? {} : { cause }),
  });
}
