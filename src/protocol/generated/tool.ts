// Original file: proto/contextd/v1/tool.proto

export interface CallContext {
  /**
   * "req_" and a ULID, made by the proxy.
   */
  'request_id'?: (string);
  /**
   * Absolute, with symlinks resolved: the directory that contains the .claude directory of the link.
   */
  'project_root'?: (string);
  /**
   * CONTEXTD_SESSION_ID or CLAUDE_CODE_SESSION_ID. Empty means the current session of the project.
   */
  'session_id'?: (string);
  /**
   * The version of this protocol that the caller speaks; see src/protocol/versions.ts.
   */
  'protocol_version'?: (number);
  /**
   * CONTEXTD_BRANCH: the branch of the session that the call belongs to. Empty means the base, unless the arguments name one.
   */
  'branch'?: (string);
  /**
   * The door of the caller, if it is a door itself.
   */
  'door'?: (CallDoor);
  /**
   * What the MCP client sees of contextd; see src/core/surfaces.ts. Empty: the caller is no MCP client.
   */
  'surface'?: (string);
}

export interface CallContext__Output {
  /**
   * "req_" and a ULID, made by the proxy.
   */
  'request_id': (string);
  /**
   * Absolute, with symlinks resolved: the directory that contains the .claude directory of the link.
   */
  'project_root': (string);
  /**
   * CONTEXTD_SESSION_ID or CLAUDE_CODE_SESSION_ID. Empty means the current session of the project.
   */
  'session_id': (string);
  /**
   * The version of this protocol that the caller speaks; see src/protocol/versions.ts.
   */
  'protocol_version': (number);
  /**
   * CONTEXTD_BRANCH: the branch of the session that the call belongs to. Empty means the base, unless the arguments name one.
   */
  'branch': (string);
  /**
   * The door of the caller, if it is a door itself.
   */
  'door': (CallDoor__Output);
  /**
   * What the MCP client sees of contextd; see src/core/surfaces.ts. Empty: the caller is no MCP client.
   */
  'surface': (string);
}

export const CallDoor = {
  /**
   * The call comes from the program that sends it.
   */
  CALL_DOOR_OWN: 0,
  /**
   * `ctxd mcp serve` passes it on from an MCP client.
   */
  CALL_DOOR_MCP: 1,
  /**
   * A client runs a command in its shell, which is contextd-sh: the client decides how long it may take.
   */
  CALL_DOOR_SHELL: 2,
} as const;

export type CallDoor =
  /**
   * The call comes from the program that sends it.
   */
  | 'CALL_DOOR_OWN'
  | 0
  /**
   * `ctxd mcp serve` passes it on from an MCP client.
   */
  | 'CALL_DOOR_MCP'
  | 1
  /**
   * A client runs a command in its shell, which is contextd-sh: the client decides how long it may take.
   */
  | 'CALL_DOOR_SHELL'
  | 2

export type CallDoor__Output = typeof CallDoor[keyof typeof CallDoor]

export const CallForm = {
  /**
   * One line of JSON, the envelope.
   */
  CALL_FORM_JSON: 0,
  /**
   * The output as text.
   */
  CALL_FORM_TEXT: 1,
  /**
   * As CALL_FORM_JSON; the data of a tool of an MCP server is its result as the server made it: content, structured_content.
   */
  CALL_FORM_CONTENT: 2,
} as const;

export type CallForm =
  /**
   * One line of JSON, the envelope.
   */
  | 'CALL_FORM_JSON'
  | 0
  /**
   * The output as text.
   */
  | 'CALL_FORM_TEXT'
  | 1
  /**
   * As CALL_FORM_JSON; the data of a tool of an MCP server is its result as the server made it: content, structured_content.
   */
  | 'CALL_FORM_CONTENT'
  | 2

export type CallForm__Output = typeof CallForm[keyof typeof CallForm]

export interface CallableTool {
  'name'?: (string);
  /**
   * One sentence.
   */
  'purpose'?: (string);
  /**
   * The JSON Schema of the arguments. Empty: the surface does not show it.
   */
  'schema_json'?: (string);
  /**
   * What tool_execute takes for the tool. Empty: it is called by its name.
   */
  'tool_id'?: (string);
  /**
   * The rest of what a server says of its tool, as a JSON object with keys of MCP. Empty: nothing.
   */
  'definition_json'?: (string);
}

export interface CallableTool__Output {
  'name': (string);
  /**
   * One sentence.
   */
  'purpose': (string);
  /**
   * The JSON Schema of the arguments. Empty: the surface does not show it.
   */
  'schema_json': (string);
  /**
   * What tool_execute takes for the tool. Empty: it is called by its name.
   */
  'tool_id': (string);
  /**
   * The rest of what a server says of its tool, as a JSON object with keys of MCP. Empty: nothing.
   */
  'definition_json': (string);
}

export interface CallableTools {
  /**
   * By name. A tool whose files were changed is left out.
   */
  'tools'?: (CallableTool)[];
  /**
   * Changes with the tools and whatever is said of them.
   */
  'version'?: (string);
  /**
   * The surface that the list is for.
   */
  'surface'?: (string);
}

export interface CallableTools__Output {
  /**
   * By name. A tool whose files were changed is left out.
   */
  'tools': (CallableTool__Output)[];
  /**
   * Changes with the tools and whatever is said of them.
   */
  'version': (string);
  /**
   * The surface that the list is for.
   */
  'surface': (string);
}

export interface ClientHookAnswer {
  /**
   * What the hook prints: a JSON object. Empty: nothing changes.
   */
  'output_json'?: (Buffer | Uint8Array | string);
}

export interface ClientHookAnswer__Output {
  /**
   * What the hook prints: a JSON object. Empty: nothing changes.
   */
  'output_json': (Buffer);
}

export interface ClientHookRequest {
  'context'?: (CallContext | null);
  /**
   * The event as UTF-8 JSON text, in the form of Claude Code's hooks: src/core/hook-event.ts.
   */
  'event_json'?: (Buffer | Uint8Array | string);
}

export interface ClientHookRequest__Output {
  'context': (CallContext__Output | null);
  /**
   * The event as UTF-8 JSON text, in the form of Claude Code's hooks: src/core/hook-event.ts.
   */
  'event_json': (Buffer);
}

export interface ExecuteEvent {
  'progress'?: (Progress | null);
  'answer'?: (ExecuteResponse | null);
  'event'?: "progress"|"answer";
}

export interface ExecuteEvent__Output {
  'progress'?: (Progress__Output | null);
  'answer'?: (ExecuteResponse__Output | null);
  'event'?: "progress"|"answer";
}

export interface ExecuteRequest {
  'tool'?: (string);
  /**
   * The arguments as UTF-8 JSON text; the daemon parses it. At most the message limit of src/core/limits.ts.
   */
  'input_json'?: (Buffer | Uint8Array | string);
  'context'?: (CallContext | null);
  /**
   * The form of the answer.
   */
  'form'?: (CallForm);
  /**
   * Where the caller stands: an absolute path with symlinks resolved. Empty, or outside the project, means its root.
   */
  'cwd'?: (string);
  /**
   * The value of the tool's primary property as plain UTF-8 text, in addition to input_json. Empty if no words were given.
   */
  'input_text'?: (Buffer | Uint8Array | string);
  /**
   * CALL_DOOR_SHELL: stdout and stderr of the caller are one, so the command writes both into stdout, in their order.
   */
  'is_merged'?: (boolean);
  /**
   * The connection of the call with this request id was lost: the same message asks for its answer. Nothing that began runs twice
   * unless it has no effects. Default: false.
   */
  'is_asked_again'?: (boolean);
  /**
   * CALL_DOOR_SHELL: the text of which the command is the first part. The rules of a person's clients are applied to all of it before the
   * part runs. Empty: the command is the whole text, or a later part.
   */
  'whole_text'?: (string);
}

export interface ExecuteRequest__Output {
  'tool': (string);
  /**
   * The arguments as UTF-8 JSON text; the daemon parses it. At most the message limit of src/core/limits.ts.
   */
  'input_json': (Buffer);
  'context': (CallContext__Output | null);
  /**
   * The form of the answer.
   */
  'form': (CallForm__Output);
  /**
   * Where the caller stands: an absolute path with symlinks resolved. Empty, or outside the project, means its root.
   */
  'cwd': (string);
  /**
   * The value of the tool's primary property as plain UTF-8 text, in addition to input_json. Empty if no words were given.
   */
  'input_text': (Buffer);
  /**
   * CALL_DOOR_SHELL: stdout and stderr of the caller are one, so the command writes both into stdout, in their order.
   */
  'is_merged': (boolean);
  /**
   * The connection of the call with this request id was lost: the same message asks for its answer. Nothing that began runs twice
   * unless it has no effects. Default: false.
   */
  'is_asked_again': (boolean);
  /**
   * CALL_DOOR_SHELL: the text of which the command is the first part. The rules of a person's clients are applied to all of it before the
   * part runs. Empty: the command is the whole text, or a later part.
   */
  'whole_text': (string);
}

export interface ExecuteResponse {
  /**
   * JSON form: the line to print, without its newline.
   */
  'envelope_json'?: (Buffer | Uint8Array | string);
  /**
   * The exit status of the command, or the exit code of the error.
   */
  'exit_code'?: (number);
  /**
   * One line that says how contextd failed the call; empty otherwise, also if a command ended with a status other than 0.
   * In the JSON form it is meant for stderr; in the text form text_stderr says the same in full.
   */
  'error_line'?: (string);
  /**
   * Text form: what to print on stdout, as it is.
   */
  'text_stdout'?: (Buffer | Uint8Array | string);
  /**
   * Text form: what to print on stderr, as it is: the command's own stderr, then the lines of contextd.
   */
  'text_stderr'?: (Buffer | Uint8Array | string);
  /**
   * CALL_DOOR_SHELL: the working directory in which the command ended. Empty if it is `cwd`, or unknown.
   */
  'directory'?: (string);
}

export interface ExecuteResponse__Output {
  /**
   * JSON form: the line to print, without its newline.
   */
  'envelope_json': (Buffer);
  /**
   * The exit status of the command, or the exit code of the error.
   */
  'exit_code': (number);
  /**
   * One line that says how contextd failed the call; empty otherwise, also if a command ended with a status other than 0.
   * In the JSON form it is meant for stderr; in the text form text_stderr says the same in full.
   */
  'error_line': (string);
  /**
   * Text form: what to print on stdout, as it is.
   */
  'text_stdout': (Buffer);
  /**
   * Text form: what to print on stderr, as it is: the command's own stderr, then the lines of contextd.
   */
  'text_stderr': (Buffer);
  /**
   * CALL_DOOR_SHELL: the working directory in which the command ended. Empty if it is `cwd`, or unknown.
   */
  'directory': (string);
}

export interface FollowRequest {
  'context'?: (CallContext | null);
  /**
   * The name that the client had with the daemon before, under which it carries questions of servers. Empty: it had none.
   */
  'earlier'?: (string);
}

export interface FollowRequest__Output {
  'context': (CallContext__Output | null);
  /**
   * The name that the client had with the daemon before, under which it carries questions of servers. Empty: it had none.
   */
  'earlier': (string);
}

export interface PassedEvent {
  /**
   * The name of the client: the first event of FollowServers.
   */
  'client'?: (string);
  'notice_json'?: (Buffer | Uint8Array | string);
  'question'?: (PassedQuestion | null);
  /**
   * The id of a question that needs no answer any more.
   */
  'withdrawn'?: (string);
  /**
   * The last event of Pass: the result, or an error of the protocol with the keys `code`, `message` and `data`.
   */
  'result_json'?: (Buffer | Uint8Array | string);
  'error_json'?: (Buffer | Uint8Array | string);
  /**
   * The last event of Pass if no FollowServers has this client open. Nothing was passed on.
   */
  'is_unknown_client'?: (boolean);
  'event'?: "client"|"notice_json"|"question"|"withdrawn"|"result_json"|"error_json"|"is_unknown_client";
}

export interface PassedEvent__Output {
  /**
   * The name of the client: the first event of FollowServers.
   */
  'client'?: (string);
  'notice_json'?: (Buffer);
  'question'?: (PassedQuestion__Output | null);
  /**
   * The id of a question that needs no answer any more.
   */
  'withdrawn'?: (string);
  /**
   * The last event of Pass: the result, or an error of the protocol with the keys `code`, `message` and `data`.
   */
  'result_json'?: (Buffer);
  'error_json'?: (Buffer);
  /**
   * The last event of Pass if no FollowServers has this client open. Nothing was passed on.
   */
  'is_unknown_client'?: (boolean);
  'event'?: "client"|"notice_json"|"question"|"withdrawn"|"result_json"|"error_json"|"is_unknown_client";
}

export interface PassedQuestion {
  'id'?: (string);
  'message_json'?: (Buffer | Uint8Array | string);
}

export interface PassedQuestion__Output {
  'id': (string);
  'message_json': (Buffer);
}

/**
 * Texts of JSON are UTF-8. A message is an object with the keys `method` and `params` of JSON-RPC.
 */
export interface PassedRequest {
  'context'?: (CallContext | null);
  /**
   * As FollowServers named it.
   */
  'client'?: (string);
  /**
   * The client speaks a revision before 2026-07-28, in which a server asks it by requests of its own.
   */
  'is_legacy'?: (boolean);
  /**
   * The capabilities of the client.
   */
  'capabilities_json'?: (Buffer | Uint8Array | string);
  'message_json'?: (Buffer | Uint8Array | string);
  /**
   * For tools/call: what tool_execute takes for the tool.
   */
  'tool_id'?: (string);
}

/**
 * Texts of JSON are UTF-8. A message is an object with the keys `method` and `params` of JSON-RPC.
 */
export interface PassedRequest__Output {
  'context': (CallContext__Output | null);
  /**
   * As FollowServers named it.
   */
  'client': (string);
  /**
   * The client speaks a revision before 2026-07-28, in which a server asks it by requests of its own.
   */
  'is_legacy': (boolean);
  /**
   * The capabilities of the client.
   */
  'capabilities_json': (Buffer);
  'message_json': (Buffer);
  /**
   * For tools/call: what tool_execute takes for the tool.
   */
  'tool_id': (string);
}

/**
 * Progress is for a person to watch. It is never complete and not part of the answer.
 */
export interface Progress {
  /**
   * Whole scrubbed lines. The only control characters are line ends, tabs and colours.
   */
  'text'?: (string);
}

/**
 * Progress is for a person to watch. It is never complete and not part of the answer.
 */
export interface Progress__Output {
  /**
   * Whole scrubbed lines. The only control characters are line ends, tabs and colours.
   */
  'text': (string);
}

export interface QuestionAnswer {
  'context'?: (CallContext | null);
  /**
   * Of the question.
   */
  'id'?: (string);
  /**
   * One of both, as in PassedEvent.
   */
  'result_json'?: (Buffer | Uint8Array | string);
  'error_json'?: (Buffer | Uint8Array | string);
}

export interface QuestionAnswer__Output {
  'context': (CallContext__Output | null);
  /**
   * Of the question.
   */
  'id': (string);
  /**
   * One of both, as in PassedEvent.
   */
  'result_json': (Buffer);
  'error_json': (Buffer);
}

export interface QuestionReceipt {
}

export interface QuestionReceipt__Output {
}

export interface RefusalReceipt {
}

export interface RefusalReceipt__Output {
}

export interface RefusalReport {
  /**
   * The refused request: input_json is {"arguments": [...]}, the words of the command line.
   */
  'call'?: (ExecuteRequest | null);
  /**
   * A code of docs/errors.md.
   */
  'error_code'?: (string);
  /**
   * The rest of the proxy's error, so that the record has the hash of the same answer.
   */
  'message'?: (string);
  'remedy'?: (string);
  'details_json'?: (Buffer | Uint8Array | string);
}

export interface RefusalReport__Output {
  /**
   * The refused request: input_json is {"arguments": [...]}, the words of the command line.
   */
  'call': (ExecuteRequest__Output | null);
  /**
   * A code of docs/errors.md.
   */
  'error_code': (string);
  /**
   * The rest of the proxy's error, so that the record has the hash of the same answer.
   */
  'message': (string);
  'remedy': (string);
  'details_json': (Buffer);
}

export interface SchemaRequest {
  'tool'?: (string);
  'context'?: (CallContext | null);
}

export interface SchemaRequest__Output {
  'tool': (string);
  'context': (CallContext__Output | null);
}

export interface SchemaResponse {
  'schema_json'?: (string);
  'tool_md'?: (string);
  'tool_extended_md'?: (string);
  /**
   * sha256 of the bundle the tool runs from, hexadecimal.
   */
  'bundle_sha256'?: (string);
}

export interface SchemaResponse__Output {
  'schema_json': (string);
  'tool_md': (string);
  'tool_extended_md': (string);
  /**
   * sha256 of the bundle the tool runs from, hexadecimal.
   */
  'bundle_sha256': (string);
}

export interface WatchToolsRequest {
  'context'?: (CallContext | null);
  /**
   * Of an earlier answer. Empty: the answer comes at once.
   */
  'known_version'?: (string);
  /**
   * A surface of src/core/surfaces.ts. Empty: the one that the settings name.
   */
  'surface'?: (string);
}

export interface WatchToolsRequest__Output {
  'context': (CallContext__Output | null);
  /**
   * Of an earlier answer. Empty: the answer comes at once.
   */
  'known_version': (string);
  /**
   * A surface of src/core/surfaces.ts. Empty: the one that the settings name.
   */
  'surface': (string);
}
