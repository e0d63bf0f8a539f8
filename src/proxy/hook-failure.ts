import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { isMedia } from '../core/media.ts';

/**
 * What contextd-hook prints if the daemon could not answer: the output of a tool is replaced, and a call that was to be judged
 * is refused. "" for an event that neither shows nor changes anything.
 */
export function failureAnswer(event: JsonObject, why: string): string {
  switch (event.hook_event_name) {
    case 'PostToolUse':
      return answerOf('PostToolUse', {
        updatedToolOutput: withheldOutput(
          event,
          `contextd withheld this output, because it could not be searched for secrets: ${why}`,
        ),
      });
    case 'PreToolUse':
      return answerOf('PreToolUse', {
        permissionDecision: 'deny',
        permissionDecisionReason: `contextd could not judge this call: ${why}`,
      });
    case 'UserPromptSubmit':
      // Without a file that the client attaches there is nothing that could leave.
      if (typeof event.prompt === 'string' && !event.prompt.includes('@')) return '';
      return JSON.stringify({
        decision: 'block',
        reason: `contextd could not search the files that you mention: ${why}`,
      });
    default:
      return '';
  }
}

function answerOf(hookEventName: string, answer: JsonObject): string {
  return JSON.stringify({ hookSpecificOutput: { hookEventName, ...answer } });
}

/** Keys of Claude Code's own tools that hold one of a few words: with another one the client ignores the whole replacement. */
const WORD_KEYS: ReadonlySet<string> = new Set([
  'cellType',
  'cell_type',
  'edit_mode',
  'language',
  'media_type',
  'mimeType',
  'mode',
  'output_type',
  'status',
  'type',
]);
const WORD = /^[a-z][\w/.+-]{0,31}$/;

/**
 * The output in the same shape, because a client ignores a replacement of another shape and shows the original. The longest
 * text becomes the sentence, all others are emptied.
 */
function withheldOutput({ tool_name: tool, tool_response: output = null }: JsonObject, sentence: string): Json {
  const isOwnTool = typeof tool === 'string' && !tool.startsWith('mcp__');
  const isKept = (text: string, key: string): boolean =>
    isMedia(text) || (WORD.test(text) && (key === 'type' || (isOwnTool && WORD_KEYS.has(key))));
  let longest: string | undefined;
  mapTexts(output, '', (text, key) => {
    if (!isKept(text, key) && text.length >= (longest?.length ?? 0)) longest = text;
    return text;
  });
  return mapTexts(output, '', (text, key) => {
    if (isKept(text, key)) return text;
    return text === longest ? sentence : '';
  });
}

/** A copy of the value with other texts. `key`: of the property that the text belongs to. */
function mapTexts(value: Json, key: string, map: (text: string, key: string) => string): Json {
  if (typeof value === 'string') return map(value, key);
  if (Array.isArray(value)) return value.map((item: Json) => mapTexts(item, key, map));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, name, map)]));
}
