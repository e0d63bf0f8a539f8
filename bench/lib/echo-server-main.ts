import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const ECHO = {
  name: 'echo',
  description: 'Return a message.',
  inputSchema: { type: 'object' as const, properties: { message: { type: 'string' } }, required: ['message'] },
};

/** An MCP server of the official SDK with one tool, which returns its argument. */
serveStdio(() => {
  const server = new Server({ name: 'echo', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', async () => ({ tools: [ECHO] }));
  server.setRequestHandler('tools/call', async ({ params }) => ({
    content: [{ type: 'text', text: String(params.arguments?.message) }],
  }));
  return server;
});
