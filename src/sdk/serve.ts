import { APP_PROTOCOL_VERSION } from '../protocol/plugin/environment.ts';
import { servePlugin } from './plugin/serve-plugin.ts';
import type { Tool } from './tool.ts';
import { type ServeOptions, ToolServer } from './tool-server.ts';

/** The whole program of a tool process: serves the tools until the daemon ends it or is gone, then ends. */
export function serveTools(tools: readonly Tool[], options: ServeOptions = {}): void {
  serve(tools, options).then(
    () => process.exit(0),
    (fault: unknown) => {
      process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`, () => process.exit(1));
    },
  );
}

export function serveTool(tool: Tool, options: ServeOptions = {}): void {
  serveTools([tool], options);
}

async function serve(tools: readonly Tool[], options: ServeOptions): Promise<void> {
  const plugin = await servePlugin({
    appVersion: APP_PROTOCOL_VERSION,
    env: process.env,
    register: (server, broker) => new ToolServer(tools, broker, options).register(server),
  });
  await plugin.closed;
}
