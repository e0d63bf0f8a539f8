import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { isBelow } from '../../core/paths.ts';
import { shellWord } from '../../core/shell-quote.ts';
import type { HookEvent } from './hook-event.ts';

/** Characters of a command that a model is to copy. */
const COMMAND_MAX_CHARS = 8_000;

/**
 * Why a call that holds tokens of the session, or neutralised look-alikes, is refused, and the call of safe_write that does what
 * was meant.
 */
export function tokenRefusal(event: HookEvent, root: string, tokens: readonly string[]): string {
  const what = `${event.tool} would write ${tokens.slice(0, 10).join(', ')} as it stands, not what it stands for.`;
  const [path] = event.paths;
  if (path === undefined || event.paths.length > 1 || !isBelow(root, path))
    return `${what} safe_write writes what it stands for, in files of the project.`;
  const call = callOf(event.input, path.slice(root.length + 1));
  if (event.isByMcp) return `${what} ${mcpCall(call)}`;
  const command = call === null ? '' : `safe_write ${shellWord(JSON.stringify(call))}`;
  // Claude Code decodes such an escape in a command before a shell sees it.
  if (command === '' || command.length > COMMAND_MAX_CHARS || /\\u[0-9a-f]{4}/i.test(command))
    return `${what} Make the same change with safe_write, which writes what it stands for: \`safe_write --help\`.`;
  return `${what} Run this in your shell instead, which writes what it stands for:\n${command}`;
}

function mcpCall(call: JsonObject | null): string {
  const input = call === null ? '' : JSON.stringify(call);
  const shown = input === '' || input.length > COMMAND_MAX_CHARS ? '.' : `:\n${input}`;
  return `Call safe_write of the MCP server contextd instead, which puts the secret in${shown}`;
}

/** The arguments of safe_write; null for a change that it does not know, such as that of a cell. */
function callOf(input: JsonObject, path: string): JsonObject | null {
  if (typeof input.content === 'string') return { path, content: input.content };
  if (Array.isArray(input.edits)) {
    const edits = input.edits.map((edit: Json) => (isJsonObject(edit) ? editOf(edit) : null));
    return edits.includes(null) ? null : { path, edits };
  }
  const edit = editOf(input);
  return edit === null ? null : { path, edits: [edit] };
}

/** Claude Code and OpenCode write the names of these differently. */
function editOf(input: JsonObject): JsonObject | null {
  const [old, fresh] = [input.old_string ?? input.oldString, input.new_string ?? input.newString];
  if (typeof old !== 'string' || typeof fresh !== 'string') return null;
  const isAll = input.replace_all === true || input.replaceAll === true;
  return { old, new: fresh, ...(isAll ? { all: true } : {}) };
}
