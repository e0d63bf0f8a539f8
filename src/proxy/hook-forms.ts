import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** How a client writes events and answers of hooks. Inside contextd they have the form of Claude Code. */
export interface HookForm {
  /** The event in the form of Claude Code. */
  read(event: JsonObject): JsonObject;
  /** The answer as the client takes it. */
  write(answer: JsonObject): JsonObject;
}

/** By the word after the name of contextd-hook. Null for Claude Code and OpenCode. Seen in Codex 0.171.0 and Gemini CLI 0.61.0. */
export function hookFormOf(word: string | undefined): HookForm | null {
  if (word === 'codex') return CODEX;
  return word === 'gemini' ? GEMINI : null;
}

/**
 * These clients do not give an MCP server the name of the conversation, so their hooks leave it out too: tokens must mean the same
 * in both. Their shells do not find the tools by name, so a refusal names the MCP tool.
 */
const SHARED: JsonObject = { session_id: '', contextd_tools: 'mcp' };

/** Like Claude Code, but a hook replaces an output by the reason for which it blocks, and a patch is called a command. */
const CODEX: HookForm = {
  read(event) {
    const { tool_name: tool, tool_input: input } = event;
    const isPatch = tool === 'apply_patch' && isJsonObject(input) && typeof input.command === 'string';
    return { ...event, ...SHARED, ...(isPatch ? { tool_input: { patchText: input.command ?? '' } } : {}) };
  },
  write: (answer) => {
    const { updatedToolOutput: output } = outputOf(answer);
    return output === undefined ? answer : { decision: 'block', reason: textOf(output) };
  },
};

const GEMINI_EVENTS: ReadonlyMap<Json | undefined, string> = new Map([
  ['BeforeTool', 'PreToolUse'],
  ['AfterTool', 'PostToolUse'],
  ['BeforeAgent', 'UserPromptSubmit'],
]);
const GEMINI_TOOLS: ReadonlyMap<Json | undefined, string> = new Map([
  ['run_shell_command', 'Bash'],
  ['write_file', 'Write'],
  ['replace', 'Edit'],
]);
const GEMINI_OWN_SERVER = /^mcp_contextd_/;

/** Only what the model sees of an output is searched and replaced; what Gemini CLI shows a person stays. */
const GEMINI: HookForm = {
  read(event) {
    const { hook_event_name: name, tool_name: tool = '', tool_input: input, tool_response: output } = event;
    const path = isJsonObject(input) ? (input.dir_path ?? input.absolute_path) : undefined;
    return {
      ...event,
      ...SHARED,
      hook_event_name: GEMINI_EVENTS.get(name) ?? name ?? '',
      tool_name: GEMINI_TOOLS.get(tool) ?? String(tool).replace(GEMINI_OWN_SERVER, 'mcp__contextd__'),
      ...(isJsonObject(input) && typeof path === 'string' ? { tool_input: { path, ...input } } : {}),
      ...(isJsonObject(output) ? { tool_response: output.llmContent ?? output } : {}),
    };
  },
  write(answer) {
    const { updatedToolOutput: output, permissionDecision: decision, permissionDecisionReason: why } = outputOf(answer);
    if (output !== undefined) return { decision: 'deny', reason: textOf(output) };
    if (decision === 'deny') return { decision, reason: why ?? '' };
    return answer.decision === 'block' ? { ...answer, decision: 'deny' } : answer;
  },
};

function outputOf({ hookSpecificOutput: output }: JsonObject): JsonObject {
  return isJsonObject(output) ? output : {};
}

/** The text that a model sees of an output: a text, parts with texts, the content of an MCP tool, or anything else as JSON. */
function textOf(output: Json): string {
  if (typeof output === 'string') return output;
  const parts = isJsonObject(output) ? output.content : output;
  const texts = Array.isArray(parts)
    ? parts.map((part: Json) =>
        isJsonObject(part) && typeof part.text === 'string' ? part.text : JSON.stringify(part),
      )
    : null;
  return texts?.join('\n') ?? JSON.stringify(output);
}
