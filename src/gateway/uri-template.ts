/** A template of URIs (RFC 6570), such as `repo://{owner}/{name}{?page}`. Values are texts. */
export interface UriTemplate {
  readonly variables: readonly TemplateVariable[];
  /** The URI with these values. A variable without one is left out. */
  expand(values: Readonly<Record<string, string>>): string;
  /** Whether the URI can be one of the template. Takes time linear in the length of the URI. */
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

const TEMPLATE_MAX_CHARS = 4_096;
const EXPRESSIONS_MAX = 16;
/** A longer one matches no template. */
const URI_MAX_CHARS = 2_048;
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
  const names = new Map<string, boolean>();
  for (const { operator, variables } of expressions)
    for (const { name } of variables) names.set(name, names.get(name) === true || !operator.isNamed);
  return {
    variables: Array.from(names, ([name, isRequired]) => ({ name, isRequired })),
    expand: (values) => parts.map((part) => (typeof part === 'string' ? part : expanded(part, values))).join(''),
    matches: (uri) => uri.length <= URI_MAX_CHARS && matches(parts, uri),
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

function expanded({ operator, variables }: Expression, values: Readonly<Record<string, string>>): string {
  const { first, separator, isNamed, ifEmpty, isReserved } = operator;
  const given = variables.flatMap(({ name, maxChars }) => {
    if (!Object.hasOwn(values, name)) return [];
    const value = [...(values[name] ?? '').toWellFormed()].slice(0, maxChars).join('');
    const shown = isReserved ? withoutReserved(value) : withoutSpecial(value);
    if (!isNamed) return [shown];
    return [shown === '' ? `${name}${ifEmpty}` : `${name}=${shown}`];
  });
  return given.length === 0 ? '' : first + given.join(separator);
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

/** The places up to which the parts so far can reach, part by part. */
function matches(parts: readonly Part[], uri: string): boolean {
  let reached = new Set([0]);
  for (const part of parts) {
    reached = typeof part === 'string' ? afterLiteral(part, uri, reached) : afterExpression(part, uri, reached);
    if (reached.size === 0) return false;
  }
  return reached.has(uri.length);
}

function afterLiteral(literal: string, uri: string, reached: ReadonlySet<number>): Set<number> {
  return new Set([...reached].filter((at) => uri.startsWith(literal, at)).map((at) => at + literal.length));
}

function afterExpression({ operator }: Expression, uri: string, reached: ReadonlySet<number>): Set<number> {
  const next = new Set(reached);
  for (let at = 0; at < uri.length; at++) if (next.has(at) && isOf(operator, uri.charAt(at))) next.add(at + 1);
  return next;
}

function isOf({ first, separator, isNamed, isReserved }: Operator, character: string): boolean {
  if (isReserved || character > '\u007f' || /[A-Za-z0-9\-._~%]/.test(character)) return true;
  return character === first || character === separator || (isNamed && character === '=');
}
