import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { headEnd, type PrintCounter } from '../../tokens/truncate.ts';
import type { ScrubbedOutcome } from '../scrub.ts';

/** A placeholder in a template of tool.json. */
const PLACEHOLDER = /\{([a-z][a-z0-9_]*)\}/g;

export interface FactText {
  /** Whole lines, or "". */
  text: string;
  isCut: boolean;
  /** The text before it was cut. */
  whole: string;
}

/**
 * Formats the facts of an answer as text. `templates` are those in tool.json; a line whose facts are missing is left
 * out. Null: the tool declares none, and its facts become one line of JSON.
 */
export function factText(
  { data, failure }: ScrubbedOutcome,
  templates: readonly string[] | null,
  maxTokens: number,
  counter: PrintCounter,
): FactText {
  if (failure !== null) return { text: '', isCut: false, whole: '' };
  const lines = templates === null ? jsonLine(data) : templates.flatMap((template) => filled(template, data));
  const whole = lines.map((line) => `${line}\n`).join('');
  const end = headEnd(counter, whole, maxTokens);
  if (end === whole.length) return { text: whole, isCut: false, whole };
  const text = whole.slice(0, end);
  return { text: text === '' || text.endsWith('\n') ? text : `${text}\n`, isCut: true, whole };
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
  if (!Array.isArray(value)) return JSON.stringify(value);
  if (value.length === 0) return 'none';
  if (value.every((item) => typeof item !== 'object')) return value.join(', ');
  return value.every(isJsonObject) ? value.map(oneLine).join('\n') : JSON.stringify(value);
}

/** Formats an object of a list: `job=1 state=running command="npm test"`. */
function oneLine(item: JsonObject): string {
  return Object.entries(item)
    .map(
      ([name, value]) => `${name}=${typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)}`,
    )
    .join(' ');
}
