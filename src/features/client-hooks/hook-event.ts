import { resolve } from 'node:path';
import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

/** A call of a client's own tool: before it runs, after it ran, or after the client itself found fault with its input. */
export interface HookEvent {
  readonly at: 'before' | 'after' | 'faulted';
  /** Session named by the client; "" if none. */
  readonly session: string;
  /** The tool as the client calls it. */
  readonly tool: string;
  readonly does: ToolDeed;
  readonly input: JsonObject;
  /** Absolute paths that the input names. Links are not resolved. */
  readonly paths: readonly string[];
  /** Where the client says that it keeps its settings and transcripts. */
  readonly clientDirectory: string | null;
  /** What the tool answered; null before it ran. */
  readonly output: Json;
  readonly durationMs: number;
  /** True if the agent calls contextd's tools by MCP, not in its shell. */
  readonly isByMcp: boolean;
}

/** A call of a client's tool, with what is needed to record it. */
export interface HookCall {
  readonly requestId: string;
  readonly session: SessionRef;
  readonly event: HookEvent;
}

/** What a person wrote, before the client attaches the files that it mentions. */
export interface PromptEvent {
  readonly at: 'prompt';
  readonly session: string;
  readonly cwd: string;
  readonly prompt: string;
}

/** What became of calls that the model made at once. */
export interface BatchEvent {
  readonly at: 'batch';
  readonly session: string;
  /** Those whose input the client found fault with before any other hook. */
  readonly faulted: readonly HookEvent[];
}

/**
 * What a tool of a client does. `read`: its output is what files and hosts hold. `write`: it changes the files that its input names.
 * `say`: its output may repeat what contextd or the model said, such as that of a shell.
 */
export type ToolDeed = 'read' | 'write' | 'say';

/** Names in lower case. Claude Code and OpenCode have names of their own. */
const WRITING: ReadonlySet<string> = new Set(['edit', 'multiedit', 'write', 'notebookedit', 'patch', 'apply_patch']);
const SAYING: ReadonlySet<string> = new Set([
  'agent',
  'askuserquestion',
  'bash',
  'bashoutput',
  'exitplanmode',
  'question',
  'sendmessage',
  'skill',
  'task',
  'taskcreate',
  'taskget',
  'tasklist',
  'taskoutput',
  'taskupdate',
  'todoread',
  'todowrite',
]);
/** How clients name the tools of an MCP server `contextd`. */
const OWN_TOOL = /^(?:mcp__contextd__|contextd_)/;

function deedOf(tool: string): ToolDeed {
  const name = tool.toLowerCase();
  if (WRITING.has(name)) return 'write';
  return SAYING.has(name) || OWN_TOOL.test(name) ? 'say' : 'read';
}

const MOMENTS: ReadonlyMap<string, HookEvent['at']> = new Map([
  ['PreToolUse', 'before'],
  ['PostToolUse', 'after'],
]);

/** Null for an event that contextd does not answer. Throws ARGS_INVALID if the text is no event. */
export function readEvent(eventJson: Buffer, root: string): HookEvent | PromptEvent | BatchEvent | null {
  const event = parsed(eventJson.toString('utf8'));
  const given = textOf(event.cwd);
  const cwd = given.startsWith('/') ? given : root;
  const session = textOf(event.session_id);
  const clientDirectory = directoryOf(textOf(event.transcript_path));
  if (event.hook_event_name === 'UserPromptSubmit') return { at: 'prompt', session, cwd, prompt: textOf(event.prompt) };
  if (event.hook_event_name === 'PostToolBatch') {
    const calls = Array.isArray(event.tool_calls) ? event.tool_calls.filter(isJsonObject).filter(isFaulted) : [];
    const faulted = calls.map((call) => callIn(call, { at: 'faulted', session, cwd, clientDirectory }));
    return { at: 'batch', session, faulted };
  }
  const at = MOMENTS.get(textOf(event.hook_event_name));
  return at === undefined ? null : callIn(event, { at, session, cwd, clientDirectory });
}

/** Claude Code keeps a transcript in `projects/PROJECT/` of its own directory, which a person can move. */
function directoryOf(transcript: string): string | null {
  return /^(\/.+)\/projects\/[^/]+\/[^/]+\.jsonl$/.exec(transcript)?.[1] ?? null;
}

/** Claude Code puts what its own checks say into this tag. */
function isFaulted({ tool_response: answer }: JsonObject): boolean {
  return textOf(answer).startsWith('<tool_use_error>');
}

function callIn(
  event: JsonObject,
  { at, session, cwd, clientDirectory }: Pick<HookEvent, 'at' | 'session' | 'clientDirectory'> & { cwd: string },
): HookEvent {
  const tool = textOf(event.tool_name);
  if (tool === '') throw invalid('it names no tool');
  const input = isJsonObject(event.tool_input) ? event.tool_input : {};
  return {
    at,
    session,
    tool,
    does: deedOf(tool),
    input,
    paths: pathsIn(input).map((path) => resolve(cwd, path)),
    clientDirectory,
    output: event.tool_response ?? null,
    isByMcp: event.contextd_tools === 'mcp',
    durationMs: typeof event.duration_ms === 'number' && event.duration_ms > 0 ? event.duration_ms : 0,
  };
}

const PATH_KEYS = ['file_path', 'notebook_path', 'filePath', 'path'];
/** A file that a patch of OpenCode changes. */
const PATCHED = /^\s*\*\*\* (?:(?:Add|Update|Delete) File|Move to):(.+)$/gm;

function pathsIn(input: JsonObject): string[] {
  const named = PATH_KEYS.map((key) => textOf(input[key]));
  const patched = [...textOf(input.patchText).matchAll(PATCHED)].map(([, path = '']) => path);
  // A version of OpenCode ends the path at a colon.
  const cut = patched.map((path) => path.replace(/:.*$/, ''));
  return [...new Set([...named, ...patched, ...cut].map((path) => path.trim()))].filter((path) => path !== '');
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw invalid('it is not a JSON object');
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function invalid(why: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `the event of the hook cannot be read: ${why}`, {
    remedy: 'Update contextd: this version does not know what the client sends.',
  });
}
