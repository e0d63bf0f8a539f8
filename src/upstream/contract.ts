import type { CallToolResult, GetPromptResult, Progress, ReadResourceResult, Tool } from '@modelcontextprotocol/client';
import type { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';

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

/** A resource of an MCP server as it lists it now, or a template for resources, as a person accepted it. */
export interface UpstreamResource {
  /** Its key in the snapshot: the canonical id, or with `~2`, `~3`, … if several have the same (gateway surface §9.3). */
  readonly id: string;
  readonly server: string;
  readonly isTemplate: boolean;
  /** The URI, or the template of it. */
  readonly uri: string;
  readonly definition: JsonObject;
}

/** A prompt of an MCP server, as a person accepted it. */
export interface UpstreamPrompt {
  /** As of a resource. */
  readonly id: string;
  readonly server: string;
  readonly upstreamName: string;
  readonly definition: JsonObject;
}

/** What the servers of a project offer. Never changes: another one takes its place as a whole. */
export interface UpstreamSnapshot {
  /** Differs as soon as anything in the snapshot does. */
  readonly revision: string;
  readonly tools: readonly UpstreamTool[];
  readonly byId: ReadonlyMap<string, UpstreamTool>;
  /** The servers of tools whose definitions changed, are new or are gone, by the ids that they have or had, also without a hash. */
  readonly waiting: ReadonlyMap<string, string>;
  /** By server, then as it lists them. */
  readonly resources: readonly UpstreamResource[];
  readonly prompts: readonly UpstreamPrompt[];
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

/** Reading from a server, which changes nothing. */
export interface UpstreamRead {
  readonly resource: UpstreamResource;
  /** That of the resource, or what the template was made to. */
  readonly uri: string;
  readonly signal: AbortSignal;
  /** Milliseconds, the start of the server included. */
  readonly timeoutMs: number;
}

export interface UpstreamPromptRequest {
  readonly prompt: UpstreamPrompt;
  /** Must be those that the prompt declares: they are not checked again. */
  readonly args: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Milliseconds, the start of the server included. */
  readonly timeoutMs: number;
}

/** The MCP servers of all projects. */
export interface UpstreamServers {
  /** Starts no server. Empty for a project without servers. */
  snapshot(project: string): Promise<UpstreamSnapshot>;
  /** Why a server did not start, if it has never listed its tools; undefined for any other name. */
  notStarted(project: string, server: string): ContextdError | undefined;
  /**
   * Calls a tool, and starts its server if it does not run. What the tool itself reports, also as `isError`, is a result.
   * Throws HYDRATE_FAILED if the tool is not in the snapshot any more, CANCELLED, UPSTREAM_ERROR, UPSTREAM_TIMEOUT,
   * UPSTREAM_UNAVAILABLE, AUTH_FAILED, PERMISSION_DENIED or RATE_LIMITED.
   */
  call(project: string, call: UpstreamCall): Promise<CallToolResult>;
  /** Throws RESOURCE_NOT_FOUND if the server does not have it, or a template is not what a person accepted; otherwise as `call`. */
  read(project: string, read: UpstreamRead): Promise<ReadResourceResult>;
  /** Throws PROMPT_NOT_FOUND if the prompt is not what a person accepted; otherwise as `call`. */
  getPrompt(project: string, request: UpstreamPromptRequest): Promise<GetPromptResult>;
}
