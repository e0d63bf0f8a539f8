import { Socket } from 'node:net';
import type { Tool } from './tool.ts';
import { type ServeOptions, ToolServer } from './tool-server.ts';

/** The descriptor of the socket to the daemon, inherited. */
const CHANNEL_FD = 3;

/** The whole program of a tool process: serves the tools until the daemon closes the channel, then ends. */
export function serveTools(tools: readonly Tool[], options: ServeOptions = {}): void {
  const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  const server = new ToolServer(tools, channel, options);
  server.finished.then(
    () => process.exit(0),
    (fault: unknown) => {
      process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`, () => process.exit(1));
    },
  );
}

export function serveTool(tool: Tool, options: ServeOptions = {}): void {
  serveTools([tool], options);
}
