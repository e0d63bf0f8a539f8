import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { foreignResult } from '../call-result.ts';
import { foreignEntry, toolEntry } from '../tool-entry.ts';
import { bytesOf, callTool, type SurfaceView } from './surface-view.ts';
import { TOOLS_SURFACE } from './tools-surface.ts';

/**
 * Every tool under the name that its author gave it, for clients with a search of their own. The result of a server's tool is
 * passed on as the server made it, scrubbed.
 */
export const PASSTHROUGH_SURFACE: SurfaceView = {
  instructions: TOOLS_SURFACE.instructions,
  async list(tools, signal): Promise<Tool[]> {
    return (await tools.list(signal)).map((tool) => (tool.toolId === '' ? toolEntry(tool) : foreignEntry(tool)));
  },
  async call(call, tools): Promise<CallToolResult> {
    const { name, args, signal, onProgress } = call;
    const listed = await tools.find(name, signal);
    if (listed === undefined || listed.toolId === '') return callTool(call, tools, 'passthrough');
    const inputJson = bytesOf({ tool_id: listed.toolId, args });
    const executed = { tool: 'tool_execute', inputJson, form: 'content', surface: 'passthrough' } as const;
    return foreignResult(await tools.call({ ...executed, signal, onProgress }));
  },
};
