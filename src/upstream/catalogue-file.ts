import type { GetPromptResult, ReadResourceResult } from '@modelcontextprotocol/client';
import { ContextdError } from '../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { isDeeperThan } from '../core/json-depth.ts';
import { CATALOGUE_LISTS, type CatalogueLists, readCatalogueText } from '../gateway/catalogue-text.ts';
import {
  DEFINITION_BOUNDS,
  DEFINITION_KINDS,
  DefinitionCollector,
  type DefinitionKind,
  type SeenTools,
} from './definitions.ts';

/** What a catalogue file says (gateway surface §9.5): definitions as a server lists them, and the answers of some. */
export interface CatalogueFile extends SeenTools {
  readonly answers: CatalogueAnswers;
}

/** Answers of the protocol: of resources by URI, of prompts by name. */
export interface CatalogueAnswers {
  readonly resources: Readonly<Record<string, JsonObject>>;
  readonly prompts: Readonly<Record<string, JsonObject>>;
}

/** Bytes of a file, and so of the request that brings it to the daemon. */
const FILE_MAX_BYTES = 4 * 1024 * 1024;

/** The lists of a file: what they hold, and the type of the protocol that an entry must be. */
const LISTS = {
  tools: { kind: 'tool', type: 'Tool' },
  resources: { kind: 'resource', type: 'Resource' },
  resourceTemplates: { kind: 'template', type: 'ResourceTemplate' },
  prompts: { kind: 'prompt', type: 'Prompt' },
} as const satisfies Record<keyof CatalogueLists, { kind: DefinitionKind; type: string }>;

/** Throws ARGS_INVALID and PAYLOAD_TOO_LARGE. An entry that cannot be used is left out with a reason, as that of a server is. */
export async function parseCatalogueFile(text: string): Promise<CatalogueFile> {
  const lists = listsOf(text);
  const { specTypeSchemas } = await import('@modelcontextprotocol/client');
  const isOf = (type: keyof typeof specTypeSchemas, value: unknown): boolean => {
    const checked = specTypeSchemas[type]['~standard'].validate(value);
    return !(checked instanceof Promise) && checked.issues === undefined;
  };
  const answers = { resources: new Map<string, JsonObject>(), prompts: new Map<string, JsonObject>() };
  const found = CATALOGUE_LISTS.map((name) => {
    const { kind, type } = LISTS[name];
    const collector = new DefinitionCollector(kind);
    for (const entry of lists[name]) {
      const key = isJsonObject(entry) ? entry[DEFINITION_KINDS[kind].key] : undefined;
      const what = typeof key === 'string' ? JSON.stringify(key.slice(0, 64)) : `an entry of ${name}`;
      if (!isJsonObject(entry) || typeof key !== 'string' || !isOf(type, entry)) {
        collector.leaveOut(what, `it is no ${type} of the protocol`);
        continue;
      }
      const answer = answerOf(kind, key, entry);
      if (answer !== null && !isOf(answer.type, answer.value)) {
        collector.leaveOut(what, `what it answers is no ${answer.type} of the protocol`);
        continue;
      }
      collector.add([entry]);
      if (answer !== null) answers[answer.list].set(key, answer.value);
    }
    return collector.result();
  });
  return {
    tools: found.flatMap(({ tools }) => tools),
    leftOut: found.flatMap(({ leftOut }) => leftOut),
    answers: { resources: Object.fromEntries(answers.resources), prompts: Object.fromEntries(answers.prompts) },
  };
}

function listsOf(text: string): CatalogueLists {
  const bytes = Buffer.byteLength(text);
  if (bytes > FILE_MAX_BYTES)
    throw new ContextdError('PAYLOAD_TOO_LARGE', `the catalogue file has ${bytes} bytes`, {
      remedy: `It may have ${FILE_MAX_BYTES}. Leave out texts of resources.`,
    });
  if (isDeeperThan(DEFINITION_BOUNDS.depth, text))
    throw new ContextdError('ARGS_INVALID', `the catalogue file is nested deeper than ${DEFINITION_BOUNDS.depth}`);
  const { lists, isLines } = readCatalogueText(text, 'the catalogue file');
  return isLines ? { ...lists, tools: lists.tools.map(toolOfLine) } : lists;
}

/** What a line says of a tool beside its definition (docs/routing.md). */
const LINE_KEYS: readonly string[] = ['id', 'namespace', 'server', 'tags', 'details', 'sideEffects'];

function toolOfLine(line: Json): Json {
  if (!isJsonObject(line)) return line;
  const kept = Object.entries(line).filter(([key, value]) => value !== null && !LINE_KEYS.includes(key));
  return { inputSchema: { type: 'object' }, ...Object.fromEntries(kept) };
}

/** What is answered for an entry that brings its own text, bytes or messages. */
function answerOf(
  kind: DefinitionKind,
  key: string,
  { text, blob, mimeType, description, messages }: JsonObject,
): { list: keyof CatalogueAnswers; type: 'ReadResourceResult' | 'GetPromptResult'; value: JsonObject } | null {
  if (kind === 'resource' && (text !== undefined || blob !== undefined)) {
    const content: JsonObject = text === undefined ? { blob: blob ?? '' } : { text };
    const part: JsonObject = { uri: key, ...(mimeType === undefined ? {} : { mimeType }), ...content };
    return { list: 'resources', type: 'ReadResourceResult', value: { contents: [part] } };
  }
  if (kind !== 'prompt' || messages === undefined) return null;
  const value = { ...(description === undefined ? {} : { description }), messages };
  return { list: 'prompts', type: 'GetPromptResult', value };
}

/** What is read of a resource that a file declares. */
export function cannedRead({ resources }: CatalogueAnswers, uri: string): ReadResourceResult {
  const answer = Object.hasOwn(resources, uri) ? resources[uri] : undefined;
  // It was checked when the file was read.
  if (answer !== undefined) return JSON.parse(JSON.stringify(answer));
  return { contents: [{ uri, mimeType: 'text/plain', text: `The catalogue file has no text for ${uri}.` }] };
}

/** What is answered for a prompt that a file declares. Its messages are not filled in: a file cannot render them. */
export function cannedPrompt(
  { prompts }: CatalogueAnswers,
  name: string,
  args: Readonly<Record<string, string>>,
): GetPromptResult {
  const answer = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
  if (answer !== undefined) return JSON.parse(JSON.stringify(answer));
  const given = Object.entries(args).map(([key, value]) => `${key}: ${value}`);
  const text = [`The catalogue file has no text for the prompt ${name}.`, ...given].join('\n');
  return { messages: [{ role: 'user', content: { type: 'text', text } }] };
}
