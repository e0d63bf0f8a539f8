import { ContextdError } from '../../core/errors.ts';

export type Selector =
  | { kind: 'name'; name: string }
  /** From `.0` or a JSON pointer: the member of this name, or the item if it is a number. */
  | { kind: 'token'; name: string }
  | { kind: 'index'; index: number }
  /** As in Python; null: not given. */
  | { kind: 'slice'; start: number | null; end: number | null; step: number }
  | { kind: 'all' };

export interface Segment {
  /** `..`: of the value and of all that is in it. */
  descends: boolean;
  selectors: readonly Selector[];
  /** Where the segment ends in the path, UTF-16 offset. */
  end: number;
}

/** UTF-16 units. */
const PATH_MAX_CHARS = 1_000;
const BLANK = /[ \t\r\n]*/y;
/** More than the RFC allows: `@type`, `x-y` and names that begin with a digit need no quotes. */
const NAME = /[^\s.[\]()*'",?|]+/uy;
const INTEGER = /-?(?:0|[1-9]\d{0,14})/y;
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/suy;
const INDEX_TOKEN = /^(?:0|[1-9]\d{0,14})$/;

/**
 * RFC 9535 without filters and functions; also without the leading `$`, a JSON pointer (`/a/b/0`), and of jq `.`, `.[0]`
 * and `[]` for `[*]`.
 * ARGS_INVALID (pointer /view/json_path) names the position.
 */
export function parseJsonPath(path: string): Segment[] {
  if (path.length > PATH_MAX_CHARS)
    throw invalid(PATH_MAX_CHARS, `is longer than ${PATH_MAX_CHARS} characters (${path.length})`);
  if (path.trim() === '.') return [];
  return path.startsWith('/') ? parsePointer(path) : new PathReader(path).segments();
}

/** Returns the item that a token names in an array; null if it is not an index. */
export function indexOfToken(name: string): number | null {
  return INDEX_TOKEN.test(name) ? Number(name) : null;
}

function parsePointer(pointer: string): Segment[] {
  const wrong = /~(?![01])/.exec(pointer);
  if (wrong) throw invalid(wrong.index, 'has a "~" that is neither ~0 nor ~1 in a JSON pointer');
  let end = 0;
  return pointer
    .slice(1)
    .split('/')
    .map((token) => {
      end += 1 + token.length;
      const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
      return { descends: false, selectors: [{ kind: 'token', name }], end };
    });
}

class PathReader {
  readonly #path: string;
  #at = 0;

  constructor(path: string) {
    this.#path = path;
  }

  segments(): Segment[] {
    const segments: Segment[] = [];
    this.#take(BLANK);
    const hasRoot = this.#eat('$');
    this.#take(BLANK);
    while (this.#at < this.#path.length) {
      segments.push(this.#segment(segments.length === 0 && !hasRoot));
      this.#take(BLANK);
    }
    return segments;
  }

  #segment(isBareStart: boolean): Segment {
    const descends = this.#eat('..');
    const dotted = descends || this.#eat('.');
    if (dotted) this.#take(BLANK);
    const selectors = this.#bracketed() ?? this.#dotted(dotted || isBareStart);
    return { descends, selectors, end: this.#at };
  }

  #dotted(allowed: boolean): Selector[] {
    if (!allowed) throw this.#fault('needs a "." or "[" here');
    if (this.#eat('*')) return [{ kind: 'all' }];
    const name = this.#take(NAME);
    if (name === '') throw this.#fault('needs a name, "*" or "[" here');
    if (this.#path[this.#at] === '(') throw this.#fault('calls a function: functions are not supported here');
    return [{ kind: indexOfToken(name) === null ? 'name' : 'token', name }];
  }

  /** null: no bracket here. */
  #bracketed(): Selector[] | null {
    if (this.#path[this.#at] !== '[') return null;
    this.#at++;
    this.#take(BLANK);
    if (this.#eat(']')) return [{ kind: 'all' }];
    const selectors: Selector[] = [];
    do {
      this.#take(BLANK);
      selectors.push(this.#selector());
      this.#take(BLANK);
    } while (this.#eat(','));
    if (!this.#eat(']')) throw this.#fault('needs "," or "]" here');
    return selectors;
  }

  #selector(): Selector {
    const first = this.#path[this.#at];
    if (first === '?') throw this.#fault('has a filter: filters ("?…") are not supported here');
    if (first === '(') throw this.#fault('has an expression, which is not supported: [-1] is the last item');
    if (this.#eat('*')) return { kind: 'all' };
    if (first === '"' || first === "'") return { kind: 'name', name: this.#quoted() };
    const start = this.#integer();
    this.#take(BLANK);
    if (this.#path[this.#at] === ':') return this.#slice(start);
    if (start !== null) return { kind: 'index', index: start };
    throw this.#fault('needs a number, a slice, "*" or a name in quotes ([\'name\']) here');
  }

  #slice(start: number | null): Selector {
    const parts: (number | null)[] = [];
    while (parts.length < 2 && this.#eat(':')) {
      this.#take(BLANK);
      parts.push(this.#integer());
      this.#take(BLANK);
    }
    const [end = null, step = null] = parts;
    return { kind: 'slice', start, end, step: step ?? 1 };
  }

  #integer(): number | null {
    const digits = this.#take(INTEGER);
    if (digits === '-0' || (digits !== '' && /\d/.test(this.#path[this.#at] ?? '')))
      throw this.#fault('has a number that is too long or begins with a needless 0');
    return digits === '' ? null : Number(digits);
  }

  #quoted(): string {
    const start = this.#at;
    const quoted = this.#take(QUOTED);
    if (quoted === '') throw this.#fault('has a quote that is not closed');
    const inner = quoted[0] === '"' ? quoted.slice(1, -1) : requote(quoted.slice(1, -1));
    try {
      const name: string = JSON.parse(`"${inner}"`);
      return name;
    } catch {
      this.#at = start;
      throw this.#fault('has a name with an escape that JSON does not know');
    }
  }

  #eat(sign: string): boolean {
    const found = this.#path.startsWith(sign, this.#at);
    if (found) this.#at += sign.length;
    return found;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#path)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #fault(fault: string): ContextdError {
    return invalid(this.#at, fault);
  }
}

/** The inside of a name in single quotes, as it stands in double quotes. */
function requote(inner: string): string {
  return inner.replace(/\\.|"/gsu, (found) => (found === "\\'" ? "'" : found === '"' ? '\\"' : found));
}

function invalid(position: number, fault: string): ContextdError {
  const told = `${fault} (character ${position + 1})`;
  return new ContextdError('ARGS_INVALID', `/view/json_path ${told}`, {
    remedy: 'Write a JSONPath such as $.items[0].name, $.items[*].id or $..name, or a JSON pointer such as /items/0.',
    details: { faults: [{ pointer: '/view/json_path', fault: told }] },
  });
}
