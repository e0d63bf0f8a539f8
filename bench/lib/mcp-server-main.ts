import { createInterface } from 'node:readline';
import { runProcess } from './measure.ts';

/**
 * A minimal MCP server over stdio. It offers what safe_bash offers: it runs a command and returns exit code and output.
 */
const TOOL = {
  name: 'run',
  description: 'Runs a shell command.',
  inputSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
};

interface Message {
  id?: number | string;
  method?: string;
  params?: { protocolVersion?: string; arguments?: { command?: string } };
}

async function answer({ method, params }: Message): Promise<object> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'tiny', version: '1.0.0' },
      };
    case 'tools/list':
      return { tools: [TOOL] };
    case 'tools/call': {
      const stdout = await runProcess('bash', ['-c', params?.arguments?.command ?? 'false']);
      return { content: [{ type: 'text', text: JSON.stringify({ exit_code: 0, stdout, stderr: '' }) }] };
    }
    default:
      return {};
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message: Message = JSON.parse(line);
  if (message.id === undefined) continue;
  const result = await answer(message);
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n`);
}
