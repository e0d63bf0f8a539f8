import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../core/json.ts';
import type { ToolOutput } from '../../protocol/tool-output.ts';
import { foreignLine } from '../../text/foreign-line.ts';
import {
  checkNotCancelled,
  type Keeping,
  mediaTypeOf,
  outputOf,
  STORED_PARTS_MAX,
} from '../execution/server-output.ts';

type Content = CallToolResult['content'];

/** Characters of the name of a part: fewer if the names of all parts together would have more than `all`. */
const LABEL_CHARS = { min: 16, max: 200, all: 8_000 };

/**
 * What was read, as the result of a tool is shown. Of several parts each begins with a line that says what it is, and each
 * of the first 64 texts is an artifact of its own beside the whole.
 */
export async function resourceOutput(
  id: string,
  { contents }: ReadResourceResult,
  keeping: Keeping,
): Promise<ToolOutput> {
  if (contents.length < 2)
    return outputOf(id, { content: contents.map((resource) => ({ type: 'resource', resource })) }, keeping);
  const texts: JsonObject[] = [];
  const content: Content = [];
  let unstored = 0;
  const { min, max, all } = LABEL_CHARS;
  const labelChars = Math.max(min, Math.min(max, Math.floor(all / contents.length)));
  for (const [index, resource] of contents.entries()) {
    const label = foreignLine(resource.uri.slice(0, labelChars));
    content.push(heading(`part ${index + 1}: ${label}`), { type: 'resource', resource });
    if (!('text' in resource)) continue;
    if (texts.length >= STORED_PARTS_MAX) {
      unstored += 1;
      continue;
    }
    checkNotCancelled(id, keeping.signal);
    const handle = await keeping.keep({ field: 'text', text: resource.text });
    const mediaType = mediaTypeOf({ mediaType: resource.mimeType ?? 'text/plain' });
    texts.push({ handle, media_type: mediaType, size_bytes: Buffer.byteLength(resource.text), label });
  }
  if (unstored > 0)
    content.push(line(`[${unstored} more texts are no artifacts of their own: an answer keeps ${STORED_PARTS_MAX}]`));
  const output = await outputOf(id, { content }, keeping);
  const blobs = Array.isArray(output.data.artifacts) ? output.data.artifacts : [];
  return { ...output, data: { ...output.data, artifacts: [...texts, ...blobs] } };
}

/** The messages of a prompt. Each begins with its role, unless there is one alone, of the user. */
export function promptOutput(id: string, { messages }: GetPromptResult, keeping: Keeping): Promise<ToolOutput> {
  const isPlain = messages.length === 1 && messages[0]?.role === 'user';
  const content = messages.flatMap(({ role, content: block }): Content => (isPlain ? [block] : [heading(role), block]));
  return outputOf(id, { content }, keeping);
}

function heading(text: string): Content[number] {
  return line(`--- ${text}`);
}

function line(text: string): Content[number] {
  return { type: 'text', text };
}
