import type { McpTool } from '../../mcp/tools.ts';
import type { Rpc } from '../../proxy/exchange.ts';
import { bytesOf, decodeFields, encodeBytes, encodeContext } from '../../proxy/messages.ts';

// WatchTools of tool.proto, by hand like the messages of the proxy: loading a library takes longer than the call.

/** CallableTools. */
export interface CallableTools {
  tools: readonly McpTool[];
  version: string;
}

export function watchToolsRpc(context: Parameters<typeof encodeContext>[0], knownVersion: string): Rpc<CallableTools> {
  return {
    path: '/contextd.v1.ToolService/WatchTools',
    message: Buffer.concat([...encodeBytes(1, encodeContext(context)), ...encodeBytes(2, knownVersion)]),
    decode: decodeTools,
  };
}

/** Throws RangeError if the bytes are not a CallableTools. */
function decodeTools(message: Buffer): CallableTools {
  const tools: McpTool[] = [];
  let version = '';
  for (const { number, value } of decodeFields(message)) {
    if (number === 1) tools.push(decodeTool(bytesOf(value)));
    else if (number === 2) version = bytesOf(value).toString('utf8');
  }
  return { tools, version };
}

function decodeTool(message: Buffer): McpTool {
  const tool: McpTool = { name: '', purpose: '', schemaJson: '' };
  for (const { number, value } of decodeFields(message)) {
    if (number === 1) tool.name = bytesOf(value).toString('utf8');
    else if (number === 2) tool.purpose = bytesOf(value).toString('utf8');
    else if (number === 3) tool.schemaJson = bytesOf(value).toString('utf8');
  }
  return tool;
}
