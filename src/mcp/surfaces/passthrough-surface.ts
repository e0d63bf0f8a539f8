import type { Tool } from '@modelcontextprotocol/server';
import { foreignEntry, toolEntry } from '../tool-entry.ts';
import { callTool, type SurfaceView } from './surface-view.ts';
import { TOOLS_SURFACE } from './tools-surface.ts';

/** Every tool under the name that its author gave it, for clients with a search of their own. */
export const PASSTHROUGH_SURFACE: SurfaceView = {
  instructions: TOOLS_SURFACE.instructions,
  async list(tools, signal): Promise<Tool[]> {
    return (await tools.list(signal)).map((tool) => (tool.toolId === '' ? toolEntry(tool) : foreignEntry(tool)));
  },
  async call(call, tools) {
    const listed = await tools.find(call.name, call.signal);
    if (listed === undefined || listed.toolId === '') return callTool(call, tools);
    return callTool({ ...call, name: 'tool_execute', args: { tool_id: listed.toolId, args: call.args } }, tools);
  },
};
