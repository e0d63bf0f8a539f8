import { toolEntry } from '../tool-entry.ts';
import { COMMON_INSTRUCTIONS, callTool, type SurfaceView } from './surface-view.ts';

/** Each tool of contextd and each installed one under its own name. */
export const TOOLS_SURFACE: SurfaceView = {
  instructions: `Tools that run in a sandbox of the project. Output is scrubbed, kept whole and cut to a budget.
Every tool takes these options too: max_tokens, view (such as {"grep":"error"} or {"tail":20}), timeout_ms, branch, dry_run.
A line [contextd … rest: TOOL {"continuation":"N"}] says how to read on: call that tool with this argument alone. N is also a ref for tool_view.
${COMMON_INSTRUCTIONS}`,
  list: async (tools, signal) => (await tools.list(signal)).map(toolEntry),
  call: (call, tools) => callTool(call, tools, 'tools'),
};
