import { type JsonType, type Property, type Shape, typeOf } from './properties.ts';

/** Values of a list in a message, at most. */
const CHOICES_MAX = 12;

const WORDS: Record<JsonType, string> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a JSON array, or an element each time the flag is given',
  null: 'null',
};

/** What a flag takes, for a message. */
export function describeShape({ types, choices }: Shape): string {
  if (choices !== null) {
    const shown = choices.slice(0, CHOICES_MAX).map((choice) => JSON.stringify(choice).slice(0, 80));
    return `one of ${shown.join(', ')}${choices.length > CHOICES_MAX ? ', …' : ''}`;
  }
  return types.length === 0 ? 'a value' : types.map((type) => WORDS[type]).join(' or ');
}

/**
 * The text of one flag as JSON text; null when it does not fit. What begins with `[` or `{` is JSON where an array or
 * an object is taken; otherwise a text is the text itself wherever a string is taken.
 */
export function readText(text: string, property: Property): string | null {
  const whole = readShape(text, property);
  if (whole !== null || !property.types.includes('array') || text.trimStart().startsWith('[')) return whole;
  return readArray([text], property);
}

/** Each text is an element. */
export function readArray(texts: readonly string[], { items }: Property): string | null {
  const elements: string[] = [];
  for (const text of texts) {
    const element = readShape(text, items);
    if (element === null) return null;
    elements.push(element);
  }
  return `[${elements.join(',')}]`;
}

function readShape(text: string, shape: Shape): string | null {
  if (shape.choices !== null) return readChoice(text, shape.choices);
  if (shape.types.length === 0) return parse(text) === undefined ? JSON.stringify(text) : text;
  const parts = shape.types.includes('object') || shape.types.includes('array');
  if (parts && /^\s*[[{]/.test(text)) return readJson(text, shape);
  if (shape.types.includes('string')) return JSON.stringify(text);
  return readJson(text, shape);
}

function readChoice(text: string, choices: readonly unknown[]): string | null {
  if (choices.includes(text)) return JSON.stringify(text);
  const value = parse(text);
  return typeof value !== 'string' && choices.includes(value) ? text : null;
}

function readJson(text: string, { types }: Shape): string | null {
  const value = parse(text);
  if (value === undefined || !isExact(value, types)) return null;
  const type = typeOf(value);
  return types.includes(type) || (type === 'integer' && types.includes('number')) ? text : null;
}

/** A number that JavaScript would round where it must be whole, or that is larger than any, is none. */
function isExact(value: unknown, types: readonly JsonType[]): boolean {
  if (typeof value !== 'number') return true;
  return types.includes('number') ? Number.isFinite(value) : Number.isSafeInteger(value);
}

/** Undefined: not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
