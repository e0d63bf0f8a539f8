import type { CallToolResult } from '@modelcontextprotocol/client';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import type { ToolOutput, ToolStream } from '../../protocol/tool-output.ts';
import { foreignLine, quotedForeign } from '../../text/foreign-line.ts';
import { oneLine } from '../../text/one-line.ts';
import type { KeptPart } from './keep-part.ts';

/** Bytes of a result that are no text. */
interface Blob {
  /** `image`, `audio`, or the name of a file. */
  label: string;
  mediaType: string;
  base64: string;
}

type Content = CallToolResult['content'][number];

export interface Keeping {
  /** Stores a part and returns the id of its artifact. */
  keep(part: KeptPart): Promise<string>;
  /** Of the call: aborting it ends the storing before the next part. */
  readonly signal: AbortSignal;
}

/** Parts of one answer that are stored by themselves: as many texts, and as many that are no text. */
export const STORED_PARTS_MAX = 64;

const ERROR_MAX_CHARS = 300;
const FACTS_MAX = 12;
const FACT_MAX_CHARS = 80;
/** Characters of a text from which on views of it are worth a line. */
const VIEWS_FROM_CHARS = 2_000;
const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

/**
 * The result of a tool of an MCP server: its text as `summary` (stored whole, shown within the budget), its structured content if it says
 * something else, figures of it as `facts`, and everything that is no text as an artifact with a short text in its place.
 * Of what is no text the first 64 are stored, and the answer says how many were left out. Throws CANCELLED.
 */
export async function outputOf(id: string, result: CallToolResult, { keep, signal }: Keeping): Promise<ToolOutput> {
  let leftOut = 0;
  const artifacts: JsonObject[] = [];
  const texts: string[] = [];
  for (const block of result.content) {
    const blob = blobOf(block);
    if (blob === null) {
      texts.push(textOf(block));
      continue;
    }
    if (artifacts.length >= STORED_PARTS_MAX) {
      leftOut += 1;
      continue;
    }
    checkNotCancelled(id, signal);
    const sizeBytes = Buffer.byteLength(blob.base64, 'base64');
    const handle = await keep({ field: 'base64', text: blob.base64 });
    const [mediaType, label] = [mediaTypeOf(blob), foreignLine(oneLine(blob.label, FACT_MAX_CHARS))];
    artifacts.push({ handle, media_type: mediaType, size_bytes: sizeBytes, label });
    texts.push(`[${label}: ${mediaType}, ${sizeBytes} bytes, ${handle}]`);
  }
  if (leftOut > 0)
    texts.push(`[${leftOut} more parts that are no text were left out: an answer keeps ${STORED_PARTS_MAX}]`);
  const text = texts.join('\n');
  const streams = streamsOf(text, jsonIn(result.structuredContent));
  const value = jsonIn(result.structuredContent) ?? parsed(text);
  const [facts, views] = [factsOf(value), viewsOf(text, value)];
  return {
    data: {
      ...(facts.length === 0 ? {} : { facts }),
      ...(artifacts.length === 0 ? {} : { artifacts }),
      ...(views.length === 0 ? {} : { views }),
    },
    streams,
    ...(result.isError === true ? { failure: reportedError(id, text) } : {}),
  };
}

/** Between two parts that are stored. Throws CANCELLED. */
export function checkNotCancelled(id: string, signal: AbortSignal): void {
  if (!signal.aborted) return;
  const { reason } = signal;
  throw reason instanceof ContextdError ? reason : new ContextdError('CANCELLED', `the call of ${id} was cancelled`);
}

/** The result as the server made it, for a client that shows it itself. */
export function contentOf(id: string, { content, structuredContent, isError }: CallToolResult): ToolOutput {
  const [blocks, structured] = [jsonIn(content), jsonIn(structuredContent)];
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  return {
    data: { content: blocks ?? [], ...(structured === undefined ? {} : { structured_content: structured }) },
    ...(isError === true ? { failure: reportedError(id, text) } : {}),
  };
}

function reportedError(id: string, text: string): NonNullable<ToolOutput['failure']> {
  const said = text.trim() === '' ? '' : `: ${quotedForeign(text, ERROR_MAX_CHARS)}`;
  return { code: 'UPSTREAM_ERROR', message: `${id} reported an error${said}` };
}

function blobOf(block: Content): Blob | null {
  if (block.type === 'image' || block.type === 'audio')
    return { label: block.type, mediaType: block.mimeType, base64: block.data };
  if (block.type !== 'resource' || !('blob' in block.resource)) return null;
  const { uri, mimeType = 'application/octet-stream', blob } = block.resource;
  return { label: uri, mediaType: mimeType, base64: blob };
}

/** A media type that a line can hold. */
export function mediaTypeOf({ mediaType }: Pick<Blob, 'mediaType'>): string {
  return MEDIA_TYPE.test(mediaType) ? mediaType : 'application/octet-stream';
}

function textOf(block: Content): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link')
    return `[link: ${foreignLine(oneLine(`${block.name} ${block.uri}`, ERROR_MAX_CHARS))}]`;
  return block.type === 'resource' && 'text' in block.resource ? block.resource.text : '';
}

/** Structured content is usually the text once more: an agent pays for it once. */
function streamsOf(text: string, structured: Json | undefined): ToolStream[] {
  const summary = { field: 'summary', text };
  if (structured === undefined) return [summary];
  const json = JSON.stringify(structured);
  const isSame = JSON.stringify(parsed(text)) === json;
  if (isSame) return [summary];
  return text === '' ? [{ field: 'summary', text: json }] : [summary, { field: 'structured', text: json }];
}

/** Keys and figures at the top of a value, as a sentence each. */
function factsOf(value: Json | undefined): string[] {
  if (Array.isArray(value)) return [`${value.length} items`];
  if (!isJsonObject(value)) return [];
  const facts = Object.entries(value).flatMap(([key, inner]) => {
    if (Array.isArray(inner)) return [`${key}: ${inner.length} items`];
    return typeof inner === 'object' ? [] : [`${key}: ${inner}`];
  });
  return facts.slice(0, FACTS_MAX).map((fact) => foreignLine(oneLine(fact, FACT_MAX_CHARS)));
}

/** Views of `tool_view` that apply to the text. */
function viewsOf(text: string, value: Json | undefined): Json[] {
  if (text.length < VIEWS_FROM_CHARS) return [];
  if (value === undefined) return ['head_tail', 'tail', 'errors'];
  const hasRows = [value, ...(isJsonObject(value) ? Object.values(value) : [])].some(Array.isArray);
  return ['json_keys', ...(hasRows ? ['rows'] : [])];
}

function parsed(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonIn(value: unknown): Json | undefined {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
