import type { CatalogItem } from '../item.ts';
import { stemOf, wordsOf } from './words.ts';

/** The parts of an item that are read. */
export const FIELDS = ['name', 'namespace', 'tags', 'description', 'arguments'] as const;

export type Field = (typeof FIELDS)[number];

/** The stems of each part of an item, in their order. */
export function itemWords(item: CatalogItem): Record<Field, string[]> {
  const stems = (text: string): string[] => wordsOf(text).map(stemOf);
  return {
    name: stems(item.name),
    namespace: stems(item.namespace),
    tags: item.tags.flatMap(stems),
    description: stems(item.description),
    arguments: stems(schemaTexts(item.inputSchema).join(' ')),
  };
}

const SCHEMA_DEPTH_MAX = 6;
const SCHEMA_TEXTS_MAX = 400;

/** Names and descriptions of properties, also of nested ones, and the values that are allowed. */
function schemaTexts(schema: unknown): string[] {
  const texts: string[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > SCHEMA_DEPTH_MAX || texts.length > SCHEMA_TEXTS_MAX)
      return;
    if (Array.isArray(value)) {
      for (const one of value) visit(one, depth + 1);
      return;
    }
    if ('description' in value && typeof value.description === 'string' && depth > 0) texts.push(value.description);
    if ('enum' in value && Array.isArray(value.enum))
      texts.push(...value.enum.filter((one) => typeof one === 'string'));
    for (const [key, one] of Object.entries(value)) {
      if (key === 'properties' && typeof one === 'object' && one !== null) {
        for (const [name, property] of Object.entries(one)) {
          texts.push(name);
          visit(property, depth + 1);
        }
      } else if (typeof one === 'object') visit(one, depth + 1);
    }
  };
  visit(schema, 0);
  return texts;
}
