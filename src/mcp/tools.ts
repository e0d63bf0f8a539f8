import type { Surface } from '../core/surfaces.ts';

/** A tool that a client may call, as the daemon knows it. */
export interface McpTool {
  name: string;
  purpose: string;
  /** The JSON Schema of the arguments, as text; "": the surface does not show it. */
  schemaJson: string;
  /** What `tool_execute` takes for the tool; "": it is called by its name. */
  toolId: string;
  /** The rest of what a server says of its tool, as a JSON object with keys of MCP; "": nothing. */
  definitionJson: string;
}

export interface McpCall {
  tool: string;
  inputJson: Buffer;
  /** What the client sees, and so what the answer may name. */
  surface: Surface;
  /** Default: text. `content`: the answer is the line of JSON. */
  form?: 'text' | 'content';
  /** Aborts when the client cancels the call or goes away. */
  signal: AbortSignal;
  /** Receives scrubbed lines of a running command. Undefined: the client did not ask. */
  onProgress?: ((text: string) => void) | undefined;
}

/** An answer in the text form, or in the form `content`. */
export interface McpAnswer {
  /** The line of JSON; "" in the text form. */
  line: string;
  stdout: string;
  stderr: string;
  /** Says that contextd failed the call; "" if it did not, also if a command ended with a status other than 0. */
  errorLine: string;
}

/** What a surface stands on. Everything throws ContextdError. */
export interface McpTools {
  /** What the surface shows of them, sorted by name. */
  list(signal: AbortSignal): Promise<readonly McpTool[]>;
  /** The tool of this name on the list of the surface. */
  find(name: string, signal: AbortSignal): Promise<McpTool | undefined>;
  call(call: McpCall): Promise<McpAnswer>;
}
