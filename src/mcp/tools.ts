/** A tool that a client may call, as the daemon knows it. */
export interface McpTool {
  name: string;
  purpose: string;
  /** The JSON Schema of the arguments, as text. */
  schemaJson: string;
}

export interface McpCall {
  tool: string;
  inputJson: Buffer;
  /** Aborts when the client cancels the call or goes away. */
  signal: AbortSignal;
  /** Receives scrubbed lines of a running command. Undefined: the client did not ask. */
  onProgress?: ((text: string) => void) | undefined;
}

/** An answer in the text form. */
export interface McpAnswer {
  stdout: string;
  stderr: string;
  /** Says that contextd failed the call; "" if it did not, also if a command ended with a status other than 0. */
  errorLine: string;
}

/** What a surface stands on. Everything throws ContextdError. */
export interface McpTools {
  /** Sorted by name. */
  list(signal: AbortSignal): Promise<readonly McpTool[]>;
  call(call: McpCall): Promise<McpAnswer>;
}
