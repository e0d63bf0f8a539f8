import type { CallToolResult, Progress, Tool } from '@modelcontextprotocol/client';

/** A tool of an MCP server, as a person accepted it. */
export interface UpstreamTool {
  /** The canonical `tool_id` (src/gateway/ids). */
  readonly id: string;
  /** The name under which a person added the server; it is the namespace. */
  readonly server: string;
  /** What the server calls it. */
  readonly upstreamName: string;
  readonly definition: Tool;
  /** What a person lets its server do to the files of the project. */
  readonly files: 'none' | 'read' | 'write';
}

/** What the servers of a project offer. Never changes: another one takes its place as a whole. */
export interface UpstreamSnapshot {
  /** Differs as soon as anything in the snapshot does. */
  readonly revision: string;
  readonly tools: readonly UpstreamTool[];
  readonly byId: ReadonlyMap<string, UpstreamTool>;
}

export interface UpstreamCall {
  readonly tool: UpstreamTool;
  /** Must match the tool's schema: it is not checked again. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Aborting it cancels the request at the server. */
  readonly signal: AbortSignal;
  /** Milliseconds, the start of the server included. */
  readonly timeoutMs: number;
  onProgress?(progress: Progress): void;
}

/** The MCP servers of all projects. */
export interface UpstreamServers {
  /** Starts no server. Empty for a project without servers. */
  snapshot(project: string): Promise<UpstreamSnapshot>;
  /**
   * Calls a tool, and starts its server if it does not run. What the tool itself reports, also as `isError`, is a result.
   * Throws HYDRATE_FAILED if the tool is not in the snapshot any more, CANCELLED, UPSTREAM_ERROR, UPSTREAM_TIMEOUT,
   * UPSTREAM_UNAVAILABLE, AUTH_FAILED, PERMISSION_DENIED or RATE_LIMITED.
   */
  call(project: string, call: UpstreamCall): Promise<CallToolResult>;
}
