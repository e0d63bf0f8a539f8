import { parentPort, workerData } from 'node:worker_threads';
import { ContextdError } from '../../core/errors.ts';
import { renderView, type ViewedOutput } from '../../tokens/views/render-view.ts';

/** The one message that a view's thread sends. */
export type ViewReply =
  | { output: ViewedOutput }
  | {
      fault: { code: string; message: string; remedy: string | undefined; details: Readonly<Record<string, unknown>> };
    };

parentPort?.postMessage(reply());

function reply(): ViewReply {
  try {
    return { output: renderView(workerData) };
  } catch (thrown) {
    const { code, message, remedy, details } = ContextdError.from(thrown);
    return { fault: { code, message, remedy, details } };
  }
}
