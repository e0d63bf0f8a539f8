import { gunzipSync } from 'node:zlib';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { CatalogItem } from '../../gateway/item.ts';
import { byteLines } from '../byte-lines.ts';
import type { CliContext } from '../context.ts';
import { readChunks } from '../input.ts';

/**
 * The items of a file of JSON lines `{"id", "name", "description"?, "inputSchema"?, "namespace"?, "tags"?, "server"?}`, which
 * may be compressed with gzip. Without a namespace, the server is the namespace. Throws ARGS_INVALID with the number of
 * the first line that is not an item.
 */
export async function readCatalog(file: string, context: CliContext): Promise<CatalogItem[]> {
  const items: CatalogItem[] = [];
  const lines = new Map<string, number>();
  let number = 0;
  for await (const bytes of byteLines(unpacked(file, context))) {
    number += 1;
    const text = bytes.toString().trim();
    if (text === '') continue;
    const item = readItem(text);
    const fault = typeof item === 'string' ? item : repeated(item.id, lines);
    if (typeof item === 'string' || fault !== null) throw invalid(file, number, fault ?? '');
    lines.set(item.id, number);
    items.push(item);
  }
  return items;
}

/** Files with the first two bytes of gzip are unpacked. */
async function* unpacked(file: string, context: CliContext): AsyncGenerator<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readChunks(file, context)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) yield bytes;
  else yield unzip(file, bytes);
}

function unzip(file: string, bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes);
  } catch (cause) {
    throw new ContextdError('ARGS_INVALID', `cannot unpack ${file}`, {
      remedy: 'Pass a complete file, packed by gzip or not at all.',
      cause,
    });
  }
}

/** The item of a line of JSON, or what is wrong with it. */
export function readItem(text: string): CatalogItem | string {
  const value = parse(text);
  if (!isJsonObject(value)) return 'it is not a JSON object';
  const { id, name, description, details, inputSchema, namespace, server, tags, sideEffects } = value;
  if (typeof id !== 'string' || id === '') return '"id" is missing or not a text';
  if (typeof name !== 'string' || name === '') return '"name" is missing or not a text';
  const texts = { description, details, namespace, server };
  for (const [key, one] of Object.entries(texts))
    if (!isAbsent(one) && typeof one !== 'string') return `"${key}" is not a text`;
  if (!isAbsent(tags) && !isTexts(tags)) return '"tags" is not a list of texts';
  if (!isAbsent(inputSchema) && !isJsonObject(inputSchema)) return '"inputSchema" is not an object';
  return {
    id,
    kind: 'tool',
    name,
    description: typeof description === 'string' ? description : '',
    namespace: typeof namespace === 'string' ? namespace : typeof server === 'string' ? server : '',
    tags: isTexts(tags) ? tags : [],
    ...(typeof details === 'string' ? { details } : {}),
    ...(isJsonObject(inputSchema) ? { inputSchema } : {}),
    ...(sideEffects === true ? { sideEffects } : {}),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

function isTexts(value: Json | undefined): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function repeated(id: string, lines: ReadonlyMap<string, number>): string | null {
  const first = lines.get(id);
  return first === undefined ? null : `the id ${JSON.stringify(id)} is that of line ${first}`;
}

function invalid(file: string, line: number, fault: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `line ${line} of ${file} is not a tool: ${fault}`, {
    remedy:
      'Each line is a JSON object with "id" and "name", and "description", "inputSchema", "namespace" and "tags" if known.',
    details: { line },
  });
}
