import { parentPort, workerData } from 'node:worker_threads';
import { packError } from '../../../core/wire-error.ts';
import { renderView } from '../../../tokens/views/render-view.ts';
import type { ViewReply } from './messages.ts';

parentPort?.postMessage(reply());

function reply(): ViewReply {
  try {
    return { output: renderView(workerData) };
  } catch (thrown) {
    return { error: packError(thrown) };
  }
}
