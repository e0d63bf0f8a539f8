import { isJsonObject, type Json } from '../../core/json.ts';
import { invalidTool, readCatalogueText } from '../../gateway/catalogue-text.ts';
import type { CatalogItem } from '../../gateway/item.ts';
import { readCatalogueBytes } from '../catalogue-bytes.ts';
import type { CliContext } from '../context.ts';

/** The longest text of a string. */
const CATALOG_MAX_BYTES = 512 * 1024 * 1024 - 32;

/**
 * The tools of a file as items: a snapshot, a list or JSON lines (`readCatalogueText`), which may be compressed with gzip. Without an
 * id, the name is the id, and without a namespace, the server is the namespace. Throws ARGS_INVALID with the place of the first
 * tool that is not an item.
 */
export async function readCatalog(file: string, context: CliContext): Promise<CatalogItem[]> {
  const { lists, placeOf } = readCatalogueText(await readCatalogueBytes(file, context, CATALOG_MAX_BYTES), file);
  const places = new Map<string, string>();
  return lists.tools.map((tool, index) => {
    const item = itemOf(tool);
    const fault = typeof item === 'string' ? item : repeated(item.id, places);
    if (typeof item === 'string' || fault !== null) throw invalidTool(placeOf(index), fault ?? '');
    places.set(item.id, placeOf(index));
    return item;
  });
}

/** The item of a line of JSON, or what is wrong with it. */
export function readItem(text: string): CatalogItem | string {
  return itemOf(parse(text));
}

function itemOf(value: Json | undefined): CatalogItem | string {
  if (!isJsonObject(value)) return 'it is not a JSON object';
  const { name, id = name, description, details, inputSchema, namespace, server, tags, sideEffects } = value;
  if (typeof name !== 'string' || name === '') return '"name" is missing or not a text';
  if (typeof id !== 'string' || id === '') return '"id" is not a text';
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

function parse(text: string): Json | undefined {
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

function repeated(id: string, places: ReadonlyMap<string, string>): string | null {
  const first = places.get(id);
  return first === undefined ? null : `the id ${JSON.stringify(id)} is that of ${first}`;
}
