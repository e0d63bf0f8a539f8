import { literalPart, matchesParts } from './uri-match.ts';

/** A template of URIs (RFC 6570), such as `repo://{owner}/{name}{?page}`. Values are texts. */
export interface UriTemplate {
  readonly variables: readonly TemplateVariable[];
  /**
   * The URI with these values. A variable without one is left out. Null if a value or the URI has more than `URI_MAX_CHARS`:
   * it stops at the value that is too much.
   */
  expand(values: Readonly<Record<string, string>>): string | null;
  /**
   * Whether the URI can be one of the template; one of more than `URI_MAX_CHARS` cannot. Takes time linear in the length of
   * the URI for each of at most 16 expressions.
   */
  matches(uri: string): boolean;
}

export interface TemplateVariable {
  readonly name: string;
  /** False for one of a query, which may be left out. */
  readonly isRequired: boolean;
}

interface Operator {
  readonly first: string;
  readonly separator: string;
  readonly isNamed: boolean;
  /** What follows the name of a variable with an empty value. */
  readonly ifEmpty: string;
  readonly isReserved: boolean;
}

interface Expression {
  readonly operator: Operator;
  readonly variables: readonly { readonly name: string; readonly maxChars: number }[];
}

type Part = string | Expression;

const PLAIN: Operator = { first: '', separator: ',', isNamed: false, ifEmpty: '', isReserved: false };
const OPERATORS: Readonly<Record<string, Operator>> = {
  '+': { ...PLAIN, isReserved: true },
  '#': { ...PLAIN, first: '#', isReserved: true },
  '.': { ...PLAIN, first: '.', separator: '.' },
  '/': { ...PLAIN, first: '/', separator: '/' },
  ';': { ...PLAIN, first: ';', separator: ';', isNamed: true },
  '?': { ...PLAIN, first: '?', separator: '&', isNamed: true, ifEmpty: '=' },
  '&': { ...PLAIN, first: '&', separator: '&', isNamed: true, ifEmpty: '=' },
};

/** Of a URI that a template makes or matches, and of a value. */
export const URI_MAX_CHARS = 2_048;
const TEMPLATE_MAX_CHARS = 4_096;
const EXPRESSIONS_MAX = 16;
/** Of all expressions together, however often a name is repeated. */
const VARIABLES_MAX = 64;
/** With `*` or `:3` at the end. */
const VARIABLE = /^([A-Za-z0-9_.%]{1,128})(?:\*|:([1-9]\d{0,3}))?$/;

/** Null if the text breaks the grammar or a bound. */
export function parseUriTemplate(text: string): UriTemplate | null {
  if (text.length > TEMPLATE_MAX_CHARS) return null;
  const parts: Part[] = [];
  for (const [, literal, expression] of text.matchAll(/([^{}]+)|\{([^{}]*)\}|[{}]/g)) {
    const part = literal ?? expressionOf(expression ?? '');
    if (part === null) return null;
    parts.push(part);
  }
  const expressions = parts.filter((part) => typeof part !== 'string');
  if (expressions.length > EXPRESSIONS_MAX) return null;
  if (expressions.flatMap(({ variables }) => variables).length > VARIABLES_MAX) return null;
  const names = new Map<string, boolean>();
  for (const { operator, variables } of expressions)
    for (const { name } of variables) names.set(name, names.get(name) === true || !operator.isNamed);
  return {
    variables: Array.from(names, ([name, isRequired]) => ({ name, isRequired })),
    expand: (values) => expand(parts, values),
    matches: matcherOf(parts),
  };
}

function expressionOf(text: string): Expression | null {
  const operator = OPERATORS[text.slice(0, 1)];
  const variables = (operator === undefined ? text : text.slice(1)).split(',').map((one) => {
    const [, name, maxChars] = VARIABLE.exec(one) ?? [];
    return name === undefined ? null : { name, maxChars: maxChars === undefined ? Infinity : Number(maxChars) };
  });
  const known = variables.filter((one) => one !== null);
  return known.length === variables.length ? { operator: operator ?? PLAIN, variables: known } : null;
}

function expand(parts: readonly Part[], values: Readonly<Record<string, string>>): string | null {
  let uri = '';
  for (const part of parts)
    for (const piece of typeof part === 'string' ? [part] : pieces(part, values)) {
      if (piece === null || uri.length + piece.length > URI_MAX_CHARS) return null;
      uri += piece;
    }
  return uri;
}

/** What each variable with a value adds to the URI; null if the value is too long. */
function* pieces(
  { operator, variables }: Expression,
  values: Readonly<Record<string, string>>,
): Generator<string | null, void> {
  const { first, separator, isNamed, ifEmpty, isReserved } = operator;
  let before = first;
  for (const { name, maxChars } of variables) {
    if (!Object.hasOwn(values, name)) continue;
    const given = values[name] ?? '';
    if (given.length > URI_MAX_CHARS) return yield null;
    const value = [...given.toWellFormed()].slice(0, maxChars).join('');
    const shown = isReserved ? withoutReserved(value) : withoutSpecial(value);
    yield before + (!isNamed ? shown : shown === '' ? `${name}${ifEmpty}` : `${name}=${shown}`);
    before = separator;
  }
}

/** Only what is unreserved stays. */
function withoutSpecial(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Reserved characters stay, and so does what is encoded already. */
function withoutReserved(text: string): string {
  return encodeURI(text)
    .replace(/%25([0-9A-Fa-f]{2})/g, '%$1')
    .replace(/%5B/g, '[')
    .replace(/%5D/g, ']');
}

function matcherOf(parts: readonly Part[]): (uri: string) => boolean {
  const [prefix] = parts;
  const literals = parts.filter((part) => typeof part === 'string');
  const minChars = literals.reduce((sum, { length }) => sum + length, 0);
  const pattern = parts.map((part) => (typeof part === 'string' ? literalPart(part) : { accepts: charactersOf(part) }));
  return (uri) => {
    if (uri.length > URI_MAX_CHARS || uri.length < minChars) return false;
    if (typeof prefix === 'string' && !uri.startsWith(prefix)) return false;
    return matchesParts(
      pattern,
      Uint16Array.from({ length: uri.length }, (_, at) => uri.charCodeAt(at)),
    );
  };
}

/** Whether a UTF-16 unit can be one of what the expression makes. */
function charactersOf({ operator: { first, separator, isNamed, isReserved } }: Expression): (unit: number) => boolean {
  const ascii = Array.from({ length: 128 }, (_, unit) => {
    const character = String.fromCharCode(unit);
    if (isReserved || /[A-Za-z0-9\-._~%]/.test(character)) return true;
    return character === first || character === separator || (isNamed && character === '=');
  });
  return (unit) => ascii[unit] ?? true;
}
