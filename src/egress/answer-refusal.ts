import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import type { Refusal } from './refusal.ts';

/**
 * Answers at once, and ends the answer when the request was read: a program that still sends would otherwise find the
 * connection closed before it reads why.
 */
export function answerRefusal(
  response: ServerResponse<IncomingMessage>,
  { status, text }: Refusal,
  headers: Readonly<Record<string, string>>,
): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  response.writeHead(status, text, headers);
  response.write(`${text}\n`);
  finished(response.req.resume(), { writable: false }, () => response.end());
}
