import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { ContextdError } from '../../core/errors.ts';
import type { Surface } from '../../core/surfaces.ts';
import { callResult } from '../call-result.ts';
import type { McpTools } from '../tools.ts';

/** A call as the client made it. */
export interface ClientCall {
  name: string;
  args: Readonly<Record<string, unknown>>;
  signal: AbortSignal;
  onProgress?: ((text: string) => void) | undefined;
}

/** What a client sees through one surface, and what its calls mean. All surfaces stand on the same tools. */
export interface SurfaceView {
  /** Every client puts them into its prompt once. What a tool itself says is not repeated. */
  instructions: string;
  list(tools: McpTools, signal: AbortSignal): Promise<Tool[]>;
  /** Throws ContextdError. */
  call(call: ClientCall, tools: McpTools): Promise<CallToolResult>;
}

/** The sentences of every surface. */
export const COMMON_INSTRUCTIONS = '[SECRET_n] stands for a masked secret.';

/**
 * Passes a call on. A continuation stands alone or with a budget, but a client may insist on the arguments that the schema
 * requires.
 */
export async function callTool(
  { name, args, signal, onProgress }: ClientCall,
  tools: McpTools,
  surface: Surface,
): Promise<CallToolResult> {
  const { continuation, max_tokens } = args;
  const inputJson = bytesOf(continuation === undefined ? args : { continuation, max_tokens });
  return callResult(await tools.call({ tool: name, inputJson, surface, signal, onProgress }));
}

/** Throws ARGS_INVALID for arguments that are nested too deeply to be written as text. */
export function bytesOf(args: Readonly<Record<string, unknown>>): Buffer {
  try {
    return Buffer.from(JSON.stringify(args));
  } catch (cause) {
    throw new ContextdError('ARGS_INVALID', 'the arguments are nested too deeply', {
      remedy: 'Pass a flatter value, or put it into a file of the workspace and pass its path.',
      cause,
    });
  }
}
