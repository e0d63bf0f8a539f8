import type { Json, JsonObject } from '../../core/json.ts';
import { headEnd, type PrintCounter } from '../../tokens/truncate.ts';
import type { ScrubbedOutcome } from '../scrub.ts';

/** A name in a template of tool.json. */
const PLACEHOLDER = /\{([a-z][a-z0-9_]*)\}/g;

export interface FactText {
  /** Whole lines, or "". */
  text: string;
  isCut: boolean;
}

/**
 * The facts of an answer as text. `templates`: what tool.json declares; a line whose facts are missing is left out. Null:
 * the tool declares nothing, and its facts are one line of JSON.
 */
export function factText(
  { data, failure }: ScrubbedOutcome,
  templates: readonly string[] | null,
  maxTokens: number,
  counter: PrintCounter,
): FactText {
  if (failure !== null) return { text: '', isCut: false };
  const lines = templates === null ? jsonLine(data) : templates.flatMap((template) => filled(template, data));
  const whole = lines.map((line) => `${line}\n`).join('');
  const end = headEnd(counter, whole, maxTokens);
  if (end === whole.length) return { text: whole, isCut: false };
  const text = whole.slice(0, end);
  return { text: text === '' || text.endsWith('\n') ? text : `${text}\n`, isCut: true };
}

function jsonLine(data: JsonObject): string[] {
  return Object.keys(data).length === 0 ? [] : [JSON.stringify(data)];
}

function filled(template: string, data: JsonObject): string[] {
  const names = Array.from(template.matchAll(PLACEHOLDER), ([, name = '']) => name);
  if (!names.every((name) => Object.hasOwn(data, name))) return [];
  return [template.replaceAll(PLACEHOLDER, (_, name: string) => shown(data[name] ?? null))];
}

function shown(value: Json): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) && value.every((item) => typeof item !== 'object')
    ? value.join(', ')
    : JSON.stringify(value);
}
