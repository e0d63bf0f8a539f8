import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { lastMessages } from './transcript.ts';

// What Claude Code passes to a hook on standard input, and the plugin of OpenCode in the same shapes, with `prompt` for the
// last request. docs/clients.md has the shapes that were seen. A hook must not fail
// because a client sends something else, so whatever cannot be read is left out.

export const HOOKS = ['session-start', 'pre-compact', 'stop', 'post-tool'] as const;
export type HookName = (typeof HOOKS)[number];

/** Tools of Claude Code whose calls say what contextd cannot see itself: its to-do list. */
export const WATCHED_TOOLS = 'TodoWrite|TaskCreate|TaskUpdate';

/** Something that a hook hands in. `task`: one entry of a to-do list, `todo`: all of it. */
export interface HandedIn {
  role: 'user' | 'agent' | 'todo' | 'task';
  text: string;
}

export interface HookInput {
  /** Undefined if the client names no session. */
  session: string | undefined;
  cwd: string;
  /** Why it happens: startup, resume, clear or compact for a start, manual or auto for a compaction. "" if the client does not say. */
  cause: string;
  items: readonly HandedIn[];
}

/** Reads the JSON of a hook. `cwd`: for a client that names no directory. */
export async function readHookInput(name: HookName, text: string, cwd: string): Promise<HookInput> {
  const input = parsed(text);
  const directory = stringOf(input.cwd);
  const at = directory?.startsWith('/') === true ? directory : cwd;
  return {
    session: stringOf(input.session_id),
    cwd: at,
    cause: (stringOf(input.source) ?? stringOf(input.trigger) ?? '').slice(0, 40),
    items: (await itemsOf(name, input)).map(bounded),
  };
}

async function itemsOf(name: HookName, input: JsonObject): Promise<readonly HandedIn[]> {
  if (name === 'session-start') return [];
  if (name === 'post-tool') return toolItems(input);
  const { user, agent } = await lastMessages(stringOf(input.transcript_path) ?? '');
  return [
    ...messageOf('user', stringOf(input.prompt) ?? user),
    ...messageOf('agent', stringOf(input.last_assistant_message) ?? agent),
  ];
}

function messageOf(role: 'user' | 'agent', text: string): HandedIn[] {
  const trimmed = text.trim();
  return trimmed === '' ? [] : [{ role, text: trimmed }];
}

/** A call of the client's own tool. */
function toolItems({ tool_name: tool, tool_input: given, tool_response: answer }: JsonObject): HandedIn[] {
  const input = isJsonObject(given) ? given : {};
  switch (tool) {
    case 'TodoWrite':
      return Array.isArray(input.todos) ? [{ role: 'todo', text: input.todos.map(todoLine).join('\n') }] : [];
    case 'TaskCreate':
      return taskItem(taskOf(answer).id, input.subject, 'pending');
    case 'TaskUpdate':
      return taskItem(input.taskId, input.subject, input.status);
    default:
      return [];
  }
}

function taskOf(answer: unknown): JsonObject {
  return isJsonObject(answer) && isJsonObject(answer.task) ? answer.task : {};
}

function taskItem(id: unknown, subject: unknown, status: unknown): HandedIn[] {
  const number = stringOf(id);
  if (number === undefined || !/^[\w-]{1,40}$/.test(number)) return [];
  const mark = status === undefined ? '' : ` ${markOf(status)}`;
  const title = stringOf(subject);
  return [{ role: 'task', text: `#${number}${mark}${title === undefined ? '' : ` ${oneLine(title)}`}` }];
}

function todoLine(todo: unknown): string {
  const { content, status } = isJsonObject(todo) ? todo : {};
  return `${markOf(status)} ${oneLine(stringOf(content) ?? '')}`;
}

function markOf(status: unknown): string {
  if (status === 'completed') return '[x]';
  if (status === 'in_progress') return '[>]';
  return status === 'deleted' || status === 'cancelled' ? '[-]' : '[ ]';
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Characters of one text. Half a text could hold half a secret, which no rule finds, so a longer one is left out whole. */
const TEXT_MAX_CHARS = 256 * 1024;

function bounded({ role, text }: HandedIn): HandedIn {
  return { role, text: text.length <= TEXT_MAX_CHARS ? text : `(${text.length} characters, too long to keep)` };
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
