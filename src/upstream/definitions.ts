import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import { isJsonObject, type Json } from '../core/json.ts';
import { isDeeperThan } from '../core/json-depth.ts';
import { headerFault } from './header-declarations.ts';

/** What is taken of the tools of one server. The largest of 44 well-known servers has 118 tools of 280 KiB in all. */
export const DEFINITION_BOUNDS = {
  tools: 512,
  /** Requests for further pages. */
  pages: 64,
  definitionBytes: 128 * 1024,
  allBytes: 2 * 1024 * 1024,
  depth: 48,
  nameChars: 256,
} as const;

/** The definition of a tool as it is compared and stored: the same text for the same definition. */
export interface SeenTool {
  readonly name: string;
  readonly text: string;
}

/** What a server listed, as far as it is used. */
export interface SeenTools {
  readonly tools: readonly SeenTool[];
  /** What was left out, and why; one clause each. */
  readonly leftOut: readonly string[];
}

/** What agents are shown of a tool, or what decides how it is called. Icons are not. */
const FIELDS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations', '_meta'] as const;
/** Reasons that are kept; a server may list any number of tools that cannot be used. */
const LEFT_OUT_MAX = 20;

/** Collects the pages of `tools/list` within the bounds. Of tools with the same name the first counts. */
export class DefinitionCollector {
  readonly #tools = new Map<string, string>();
  readonly #leftOut: string[] = [];
  readonly #hasHeaders: boolean;
  #bytes = 0;

  /** `hasHeaders`: the server may want arguments as headers, so a tool that declares them wrongly is left out. */
  constructor({ hasHeaders = false } = {}) {
    this.#hasHeaders = hasHeaders;
  }

  add(tools: readonly Tool[]): void {
    for (const tool of tools) {
      const fault = this.#take(tool);
      if (fault !== null && this.#leftOut.length < LEFT_OUT_MAX)
        this.#leftOut.push(`${JSON.stringify(tool.name.slice(0, 64))}: ${fault}`);
    }
  }

  result(): SeenTools {
    return { tools: Array.from(this.#tools, ([name, text]) => ({ name, text })), leftOut: this.#leftOut };
  }

  /** Why the tool is left out; null if it is taken. */
  #take(tool: Tool): string | null {
    const { nameChars, tools, definitionBytes, allBytes, depth } = DEFINITION_BOUNDS;
    if (tool.name === '' || tool.name.length > nameChars) return `its name does not have 1 to ${nameChars} characters`;
    if (this.#tools.has(tool.name)) return 'another tool has the same name';
    if (this.#tools.size >= tools) return `the server has more than ${tools} tools`;
    const text = definitionText(tool);
    if (isDeeperThan(depth, text)) return `its definition is nested deeper than ${depth}`;
    const header = this.#hasHeaders ? headerFault(JSON.parse(text).inputSchema ?? null) : null;
    if (header !== null) return header;
    const bytes = Buffer.byteLength(text);
    if (bytes > definitionBytes) return `its definition has ${bytes} bytes; ${definitionBytes} are allowed`;
    if (this.#bytes + bytes > allBytes) return `the definitions of the server have more than ${allBytes} bytes`;
    this.#bytes += bytes;
    this.#tools.set(tool.name, text);
    return null;
  }
}

/** The fields in a fixed order, and the keys of objects in order. */
function definitionText(tool: Tool): string {
  const whole = JSON.parse(JSON.stringify(tool)) as Record<string, Json>;
  return JSON.stringify(
    Object.fromEntries(FIELDS.flatMap((field) => (field in whole ? [[field, sorted(whole[field])]] : []))),
  );
}

function sorted(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item) ?? null);
  if (!isJsonObject(value)) return value;
  // Without a prototype a key may be `__proto__`.
  const copy: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(value).sort()) copy[key] = sorted(value[key]) ?? null;
  return copy;
}

/** Identifies a list of definitions, whatever its order. */
export function definitionsHash(tools: readonly SeenTool[]): string {
  const hash = createHash('sha256');
  for (const { name, text } of [...tools].sort((a, b) => (a.name < b.name ? -1 : 1)))
    hash.update(JSON.stringify([name, text]));
  return hash.digest('hex');
}

export type ToolChangeKind = 'new' | 'changed' | 'removed';

/** A tool whose definition is not the one that a person accepted. */
export interface ToolChange {
  readonly tool: string;
  readonly kind: ToolChangeKind;
  /** As definitions, indented; empty for a definition that does not exist. */
  readonly before: string;
  readonly after: string;
}

/** Sorted by name. */
export function changesBetween(accepted: readonly SeenTool[], seen: readonly SeenTool[]): ToolChange[] {
  const [before, after] = [textsOf(accepted), textsOf(seen)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((tool) => {
    const [old, now] = [before.get(tool), after.get(tool)];
    if (old === now) return [];
    const kind = old === undefined ? 'new' : now === undefined ? 'removed' : 'changed';
    return [{ tool, kind, before: indented(old), after: indented(now) }];
  });
}

/** The accepted tools that the server still has as they were accepted. */
export function unchanged(accepted: readonly SeenTool[], seen: readonly SeenTool[]): SeenTool[] {
  const now = textsOf(seen);
  return accepted.filter(({ name, text }) => now.get(name) === text);
}

function textsOf(tools: readonly SeenTool[]): Map<string, string> {
  return new Map(tools.map(({ name, text }) => [name, text]));
}

function indented(text: string | undefined): string {
  return text === undefined ? '' : JSON.stringify(JSON.parse(text), null, 2);
}
