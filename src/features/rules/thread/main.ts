/** The program of the thread that reads commands. `JudgeThread` starts it; nothing imports it. */

import { parentPort } from 'node:worker_threads';
import { judgeText } from '../judge.ts';
import type { JudgeReply, JudgeRequest } from './messages.ts';

parentPort?.on('message', (request: JudgeRequest) => parentPort?.postMessage(replyTo(request)));

function replyTo({ id, judged, lists }: JudgeRequest): JudgeReply {
  try {
    return { id, judgement: judgeText(judged, lists) };
  } catch {
    // Whatever the parser throws for a text, such as the end of its stack.
    return { id, judgement: null };
  }
}
