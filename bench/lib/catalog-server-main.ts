import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

/**
 * An MCP server of the official SDK with the tools of another: `catalog-server-main.js FILE`, a `tools/list` recorded as
 * `{"tools_list":{"tools":[…]}}`, gzipped if its name ends so. A call returns its arguments.
 */
const [file = ''] = process.argv.slice(2);
const bytes = readFileSync(file);
const { tools } = JSON.parse((file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()).tools_list;

serveStdio(() => {
  const server = new Server({ name: 'catalog', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools }));
  server.setRequestHandler('tools/call', async ({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params.arguments ?? {}) }],
  }));
  return server;
});
