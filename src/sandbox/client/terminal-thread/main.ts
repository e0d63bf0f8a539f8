import { parentPort } from 'node:worker_threads';
import { TerminalScreen } from '../../../text/terminal-screen.ts';
import { TERMINAL_SIZE } from '../../contract/command.ts';
import type { TerminalReply, TerminalRequest } from './messages.ts';

let scrolledOff = '';
const screen = new TerminalScreen(TERMINAL_SIZE, (text) => {
  scrolledOff += text;
});

function post(reply: TerminalReply): void {
  parentPort?.postMessage(reply);
}

/** Settles when everything that was written is shown. The emulator keeps the order and shows many small writes at once. */
let shown: Promise<void> = Promise.resolve();

async function show(bytes: Uint8Array): Promise<void> {
  await screen.write(bytes);
  post({ read: bytes.length, scrolledOff });
  scrolledOff = '';
}

parentPort?.on('message', (request: TerminalRequest) => {
  if ('write' in request) shown = show(request.write);
  else void shown.then(() => post({ show: request.show, screen: screen.screen() }));
});
