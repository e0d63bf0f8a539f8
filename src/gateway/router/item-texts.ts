import type { CatalogItem } from '../item.ts';
import { stemOf, wordsOf } from './words.ts';

/** The parts of an item that are read. */
export const FIELDS = ['name', 'namespace', 'tags', 'description', 'arguments'] as const;

export type Field = (typeof FIELDS)[number];

/** The texts of each part of an item. */
export function itemTexts(item: CatalogItem): Record<Field, readonly string[]> {
  return {
    name: [item.name],
    namespace: [item.namespace],
    tags: item.tags,
    description: item.details === undefined ? [item.description] : [item.description, item.details],
    arguments: schemaTexts(item.inputSchema),
  };
}

/** The parts of an item that have a stem. */
export function fieldsWith(item: CatalogItem, stem: string): Field[] {
  const texts = itemTexts(item);
  return FIELDS.filter((field) => texts[field].some((text) => wordsOf(text).some((word) => stemOf(word) === stem)));
}

const SCHEMA_DEPTH_MAX = 12;
const SCHEMA_TEXTS_MAX = 400;

/** Names and descriptions of properties, also of nested ones, and the texts that an `enum` allows. */
function schemaTexts(schema: unknown): string[] {
  const texts: string[] = [];
  visit(schema, 0, texts);
  return texts.slice(0, SCHEMA_TEXTS_MAX);
}

function visit(value: unknown, depth: number, texts: string[]): void {
  if (typeof value !== 'object' || value === null || depth > SCHEMA_DEPTH_MAX || texts.length >= SCHEMA_TEXTS_MAX)
    return;
  for (const [key, part] of Object.entries(value)) {
    if (key === 'properties') visitProperties(part, depth, texts);
    else if (key === 'enum' && Array.isArray(part)) addTexts(part, texts);
    else if (key === 'description' && typeof part === 'string' && depth > 0) texts.push(part);
    else if (key !== 'default' && key !== 'examples') visit(part, depth + 1, texts);
  }
}

function addTexts(values: readonly unknown[], texts: string[]): void {
  for (const value of values.slice(0, SCHEMA_TEXTS_MAX)) if (typeof value === 'string') texts.push(value);
}

function visitProperties(properties: unknown, depth: number, texts: string[]): void {
  if (typeof properties !== 'object' || properties === null) return;
  for (const [name, property] of Object.entries(properties)) {
    texts.push(name);
    visit(property, depth + 1, texts);
  }
}
