import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';

/** The lists of the protocol that a catalogue may have. */
export const CATALOGUE_LISTS = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;

export type CatalogueLists = Readonly<Record<(typeof CATALOGUE_LISTS)[number], readonly Json[]>>;

/** What a catalogue holds, as it is written. */
export interface CatalogueText {
  readonly lists: CatalogueLists;
  /** True: the tools are lines, and may lack what the protocol demands. */
  readonly isLines: boolean;
  /** Where a tool is, for messages. */
  placeOf(index: number): string;
}

/** Reads a JSON object with lists, a list of tools, or JSON lines with a tool each. Throws ARGS_INVALID; `name` is that of the file. */
export function readCatalogueText(text: string, name: string): CatalogueText {
  const value = parsed(text);
  const placeOf = (index: number): string => `tool ${index + 1} of ${name}`;
  if (Array.isArray(value)) return { lists: { ...NO_LISTS, tools: value }, isLines: false, placeOf };
  if (isJsonObject(value) && !isTool(value)) return { lists: listsOf(value, name), isLines: false, placeOf };
  if (value !== undefined && !isJsonObject(value)) throw invalid(name, 'it is neither an object nor a list');
  const numbers: number[] = [];
  const tools = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const tool = parsed(line);
    if (!isJsonObject(tool)) {
      if (numbers.length === 0) throw invalid(name, 'it is not JSON');
      throw invalidTool(`line ${index + 1} of ${name}`, 'it is not a JSON object');
    }
    numbers.push(index + 1);
    return [tool];
  });
  if (numbers.length === 0) throw invalid(name, 'it is empty');
  return { lists: { ...NO_LISTS, tools }, isLines: true, placeOf: (index) => `line ${numbers[index]} of ${name}` };
}

const NO_LISTS: CatalogueLists = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

/** A file of one line is an object, too. */
function isTool(value: JsonObject): boolean {
  return 'name' in value || 'id' in value;
}

function listsOf(value: JsonObject, name: string): CatalogueLists {
  const lists: Record<keyof CatalogueLists, readonly Json[]> = { ...NO_LISTS };
  for (const [key, list] of Object.entries(value)) {
    const known = CATALOGUE_LISTS.find((one) => one === key);
    if (known === undefined) throw invalid(name, `it has the unknown key ${JSON.stringify(key.slice(0, 64))}`);
    if (!Array.isArray(list)) throw invalid(name, `its ${key} are no list`);
    lists[known] = list;
  }
  return lists;
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A tool that cannot be used, by its place. */
export function invalidTool(place: string, fault: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `${place} is not a tool: ${fault}`, {
    remedy:
      'Each tool is a JSON object with "name", and "id", "description", "inputSchema", "namespace" and "tags" if known.',
    details: { place },
  });
}

function invalid(name: string, why: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `${name} cannot be used: ${why}`, {
    remedy: `Write an object with lists: ${CATALOGUE_LISTS.join(', ')}; or a list of tools; or lines with a tool each.`,
  });
}
