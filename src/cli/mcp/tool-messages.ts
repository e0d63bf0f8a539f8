import type { McpTool } from '../../mcp/tools.ts';
import type { Rpc } from '../../proxy/exchange.ts';
import { bytesOf, decodeFields, encodeBytes, encodeContext } from '../../proxy/messages.ts';

// WatchTools of tool.proto, by hand like the messages of the proxy: loading a library takes longer than the call.

/** CallableTools. */
export interface CallableTools {
  tools: readonly McpTool[];
  version: string;
  surface: string;
}

export function watchToolsRpc(
  context: Parameters<typeof encodeContext>[0],
  { knownVersion, surface }: { knownVersion: string; surface: string },
): Rpc<CallableTools> {
  return {
    path: '/contextd.v1.ToolService/WatchTools',
    message: Buffer.concat([
      ...encodeBytes(1, encodeContext(context)),
      ...encodeBytes(2, knownVersion),
      ...encodeBytes(3, surface),
    ]),
    decode: decodeTools,
  };
}

/** Throws RangeError if the bytes are not a CallableTools. */
function decodeTools(message: Buffer): CallableTools {
  const tools: McpTool[] = [];
  let version = '';
  let surface = '';
  for (const { number, value } of decodeFields(message)) {
    if (number === 1) tools.push(decodeTool(bytesOf(value)));
    else if (number === 2) version = textOf(value);
    else if (number === 3) surface = textOf(value);
  }
  return { tools, version, surface };
}

const TOOL_FIELDS: readonly (keyof McpTool)[] = ['name', 'purpose', 'schemaJson', 'toolId', 'definitionJson'];

function decodeTool(message: Buffer): McpTool {
  const tool: McpTool = { name: '', purpose: '', schemaJson: '', toolId: '', definitionJson: '' };
  for (const { number, value } of decodeFields(message)) {
    const field = TOOL_FIELDS[number - 1];
    if (field !== undefined) tool[field] = textOf(value);
  }
  return tool;
}

function textOf(value: number | Buffer): string {
  return bytesOf(value).toString('utf8');
}
