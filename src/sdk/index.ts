import { serveTools } from './serve.ts';
import type { Tool } from './tool.ts';

// The package `@contextd/sdk`: what a tool of someone else imports.

export {
  ContextdError,
  type EndedBy,
  type ExecResult,
  type ExecSpec,
  type Json,
  type JsonObject,
  type LogLevel,
  type Tool,
  type ToolContext,
  type ToolFailure,
  type ToolHost,
  type ToolOutput,
  type ToolStream,
} from './tool.ts';

/** Serves the tool in this process until the daemon ends the process or is gone, then exits. */
export function serveTool<Input extends object>(tool: Tool<Input>): void {
  const { name } = tool;
  // The daemon has checked the input by schema.json, which is what `Input` describes.
  serveTools([{ name, execute: (context, input: object) => tool.execute(context, input as Input) }]);
}
