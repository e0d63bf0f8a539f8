import type { CallToolResult, GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../core/json.ts';
import type { ToolOutput } from '../../protocol/tool-output.ts';
import { oneLine } from '../../text/one-line.ts';
import type { KeptPart } from '../execution/keep-part.ts';
import { mediaTypeOf, outputOf } from '../execution/server-output.ts';

type Content = CallToolResult['content'];
type Keep = (part: KeptPart) => Promise<string>;

const LABEL_MAX_CHARS = 200;
/** Texts of one answer that are stored by themselves too. The others are in the whole text. */
const TEXTS_MAX = 64;

/**
 * What was read, as the result of a tool is shown. Of several parts each begins with a line that says what it is, and each
 * text is an artifact of its own beside the whole.
 */
export async function resourceOutput(id: string, { contents }: ReadResourceResult, keep: Keep): Promise<ToolOutput> {
  if (contents.length < 2)
    return outputOf(id, { content: contents.map((resource) => ({ type: 'resource', resource })) }, keep);
  const texts: JsonObject[] = [];
  const content: Content = [];
  for (const [index, resource] of contents.entries()) {
    const label = oneLine(resource.uri, LABEL_MAX_CHARS);
    content.push(heading(`part ${index + 1}: ${label}`), { type: 'resource', resource });
    if (!('text' in resource) || texts.length >= TEXTS_MAX) continue;
    const handle = await keep({ field: 'text', text: resource.text });
    const mediaType = mediaTypeOf({ mediaType: resource.mimeType ?? 'text/plain' });
    texts.push({ handle, media_type: mediaType, size_bytes: Buffer.byteLength(resource.text), label });
  }
  const output = await outputOf(id, { content }, keep);
  const blobs = Array.isArray(output.data.artifacts) ? output.data.artifacts : [];
  return { ...output, data: { ...output.data, artifacts: [...texts, ...blobs] } };
}

/** The messages of a prompt. Each begins with its role, unless there is one alone, of the user. */
export function promptOutput(id: string, { messages }: GetPromptResult, keep: Keep): Promise<ToolOutput> {
  const isPlain = messages.length === 1 && messages[0]?.role === 'user';
  const content = messages.flatMap(({ role, content: block }): Content => (isPlain ? [block] : [heading(role), block]));
  return outputOf(id, { content }, keep);
}

function heading(text: string): Content[number] {
  return { type: 'text', text: `--- ${text}` };
}
