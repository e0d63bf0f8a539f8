import { parentPort } from 'node:worker_threads';
import { TerminalScreen } from '../text/terminal-screen.ts';
import { TERMINAL_SIZE } from './pseudo-terminal.ts';

/** To the thread: output of the command, or the question what the terminal shows. */
export type TerminalRequest = { write: Uint8Array } | { show: number };

/** From the thread. `scrolledOff` is new text that does not change any more; `read` counts the bytes it is about. */
export type TerminalReply = { read: number; scrolledOff: string } | { show: number; screen: string };

let scrolledOff = '';
const screen = new TerminalScreen(TERMINAL_SIZE, (text) => {
  scrolledOff += text;
});

function post(reply: TerminalReply): void {
  parentPort?.postMessage(reply);
}

async function serve(request: TerminalRequest): Promise<void> {
  if ('show' in request) return post({ show: request.show, screen: screen.screen() });
  await screen.write(request.write);
  post({ read: request.write.length, scrolledOff });
  scrolledOff = '';
}

let served: Promise<void> = Promise.resolve();
parentPort?.on('message', (request: TerminalRequest) => {
  served = served.then(() => serve(request));
});
