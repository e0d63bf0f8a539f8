import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { KEEP_ALIVE_MS, UNANSWERED_MAX } from './limits.ts';

/** The requests of one connection that are not answered yet. */
export interface OpenRequests {
  readonly socket: Socket;
  requests: number;
  headTimer: NodeJS.Timeout | undefined;
}

/** Ends the connection unless the head of a request arrives in time. */
export function awaitHead(open: OpenRequests, ms: number): void {
  clearTimeout(open.headTimer);
  if (!open.socket.destroyed) open.headTimer = setTimeout(() => open.socket.destroy(), ms);
}

/**
 * Counts a request until it is answered. Ends the connection and returns false if too many are open: programs wait for an
 * answer before they ask on, and what waits here takes the memory of all projects.
 */
export function admit(open: OpenRequests, request: IncomingMessage, response: ServerResponse): boolean {
  if (open.requests >= UNANSWERED_MAX || request.socket.destroyed) {
    request.socket.destroy();
    return false;
  }
  clearTimeout(open.headTimer);
  open.requests += 1;
  response.once('close', () => {
    open.requests -= 1;
    if (open.requests === 0) awaitHead(open, KEEP_ALIVE_MS);
  });
  response.on('error', () => {});
  request.on('error', () => {});
  return true;
}
