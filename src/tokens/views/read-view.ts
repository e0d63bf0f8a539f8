import { ContextdError } from '../../core/errors.ts';
import { ARTIFACT_ID_PATTERN } from '../../core/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { checkPattern } from './grep.ts';
import { checkJsonPath } from './json-path.ts';
import type { TextView, View, ViewName } from './view.ts';

/** Longest pattern, path, query or name in a view, UTF-16 units. */
const TEXT_MAX_CHARS = 1_000;
const CONTEXT_MAX_LINES = 50;
const ERRORS_CONTEXT_LINES = 2;
const ROWS_DEFAULT = 20;
const KEYS_MAX = 100;
const RANGE = /^(\d{1,15})(-(\d{0,15}))?$/;

/** Keys allowed beside the view's own name in every view. */
const WITH_ALL = ['stream', 'densify'];

interface Reader {
  /** Further keys of the object. */
  with: readonly string[];
  read(value: Json, object: JsonObject): TextView;
}

const READERS: Readonly<Record<ViewName, Reader>> = {
  head: { with: [], read: (value) => ({ name: 'head', lines: countOf('head', value) }) },
  tail: { with: [], read: (value) => ({ name: 'tail', lines: countOf('tail', value) }) },
  head_tail: { with: [], read: (value) => flagged('head_tail', value, { name: 'head_tail' }) },
  lines: { with: [], read: (value) => ({ name: 'lines', ...rangeOf('lines', value, 1) }) },
  bytes: { with: [], read: (value) => ({ name: 'bytes', ...rangeOf('bytes', value, 0) }) },
  grep: { with: ['context', 'before', 'after'], read: readGrep },
  errors: {
    with: ['context'],
    read: (value, { context }) =>
      flagged('errors', value, { name: 'errors', context: contextOf('context', context) ?? ERRORS_CONTEXT_LINES }),
  },
  json_path: { with: [], read: readJsonPath },
  json_keys: { with: ['path'], read: readJsonKeys },
  rows: { with: ['columns'], read: readRows },
  diff: { with: [], read: readDiff },
  digest: { with: [], read: readDigest },
};

export const VIEW_NAMES = Object.keys(READERS) as readonly ViewName[];
/** Views that need no value. */
const BY_NAME: readonly ViewName[] = ['head', 'tail', 'head_tail', 'errors', 'json_keys', 'rows', 'diff', 'digest'];

export const DEFAULT_VIEW: View = { name: 'head_tail', stream: null, densify: true };

/** The option `view`: a name, or an object such as `{"grep":"error","context":2}`. ARGS_INVALID names the pointer. */
export function readView(value: Json | undefined): View {
  if (value === undefined) return DEFAULT_VIEW;
  if (typeof value === 'string') return readName(value);
  if (!isJsonObject(value)) throw invalid('', `must be a name or an object, not ${show(value)}`);
  const [name, ...others] = VIEW_NAMES.filter((known) => value[known] !== undefined);
  if (name === undefined) throw invalid('', `names no view: ${show(value)}`);
  if (others.length > 0) throw invalid(`/${others[0]}`, `cannot go with ${name}`);
  const reader = READERS[name];
  for (const key of Object.keys(value))
    if (key !== name && !reader.with.includes(key) && !WITH_ALL.includes(key))
      throw invalid(`/${key}`, `is not an option of ${name}`);
  return { ...reader.read(value[name] ?? null, value), ...readCommon(value) };
}

function readName(value: string): View {
  const name = BY_NAME.find((known) => known === value);
  if (name !== undefined) return { ...READERS[name].read(true, {}), stream: null, densify: true };
  const isOther = VIEW_NAMES.some((known) => known === value);
  throw invalid('', isOther ? `${value} needs a value: {"${value}":…}` : `is not a view: ${show(value)}`);
}

function readCommon({ stream = null, densify = true }: JsonObject): Pick<View, 'stream' | 'densify'> {
  if (stream !== null && (typeof stream !== 'string' || !/^[a-z][a-z0-9_]{0,31}$/.test(stream)))
    throw invalid('/stream', `must be the name of a text of data, such as "stderr", not ${show(stream)}`);
  if (typeof densify !== 'boolean') throw invalid('/densify', `must be true or false, not ${show(densify)}`);
  return { stream, densify };
}

function readGrep(value: Json, { context, before, after }: JsonObject): TextView {
  const pattern = textOf('grep', value);
  checkPattern(pattern);
  const around = contextOf('context', context) ?? 0;
  return {
    name: 'grep',
    pattern,
    before: contextOf('before', before) ?? around,
    after: contextOf('after', after) ?? around,
  };
}

function readJsonPath(value: Json): TextView {
  const path = textOf('json_path', value);
  checkJsonPath(path);
  return { name: 'json_path', path };
}

/** `true` or a path: which keys there are; a list: these keys of the object at `path`. */
function readJsonKeys(value: Json, { path: at }: JsonObject): TextView {
  const keys = Array.isArray(value) ? value.map((key: Json) => textOf('json_keys', key)) : null;
  if (keys !== null && (keys.length === 0 || keys.length > KEYS_MAX))
    throw invalid('/json_keys', `names ${keys.length} keys of 1 to ${KEYS_MAX}`);
  const given = keys === null && value !== true ? value : at;
  const path = given === undefined ? '$' : textOf(given === at ? 'path' : 'json_keys', given);
  checkPathOf(path, given === at ? '/view/path' : '/view/json_keys');
  return { name: 'json_keys', path, keys };
}

/** The same check, with the pointer of this path in the message. */
function checkPathOf(path: string, pointer: string): void {
  try {
    checkJsonPath(path);
  } catch (thrown) {
    const { code, message, remedy } = ContextdError.from(thrown);
    const fault = message.replace(/^\S+ /, '');
    throw new ContextdError(code, `${pointer} ${fault}`, {
      ...(remedy === undefined ? {} : { remedy }),
      details: { faults: [{ pointer, fault }] },
    });
  }
}

function readRows(value: Json, { columns }: JsonObject): TextView {
  const range = value === true ? { first: 1, last: ROWS_DEFAULT } : rangeOf('rows', value, 1);
  if (columns === undefined) return { name: 'rows', ...range, columns: null };
  if (!Array.isArray(columns) || columns.length === 0 || columns.length > KEYS_MAX)
    throw invalid('/columns', `must be a list of 1 to ${KEYS_MAX} names, not ${show(columns)}`);
  return { name: 'rows', ...range, columns: columns.map((column: Json) => textOf('columns', column)) };
}

function readDiff(value: Json): TextView {
  if (value === true) return { name: 'diff', against: null };
  if (typeof value === 'string' && ARTIFACT_ID_PATTERN.test(value)) return { name: 'diff', against: value };
  throw invalid('/diff', `must be an art_ id of this session or true, not ${show(value)}`);
}

function readDigest(value: Json): TextView {
  if (value === true) return { name: 'digest', query: '' };
  if (!isJsonObject(value)) throw invalid('/digest', `must be {"query":"…"}, not ${show(value)}`);
  const { query = '', ...others } = value;
  if (Object.keys(others).length > 0) throw invalid(`/digest/${Object.keys(others)[0]}`, 'is not an option of digest');
  return { name: 'digest', query: query === '' ? '' : textOf('digest/query', query) };
}

function flagged(name: ViewName, value: Json, view: TextView): TextView {
  if (value === true) return view;
  throw invalid(`/${name}`, `must be true, not ${show(value)}`);
}

function countOf(name: 'head' | 'tail', value: Json): number | null {
  if (value === true) return null;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid(`/${name}`, `must be a number of lines from 1, or true, not ${show(value)}`);
}

function contextOf(name: string, value: Json | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= CONTEXT_MAX_LINES) return value;
  throw invalid(`/${name}`, `must be a number of lines from 0 to ${CONTEXT_MAX_LINES}, not ${show(value)}`);
}

function rangeOf(name: string, value: Json, least: 0 | 1): { first: number; last: number } {
  const [, first, dash, last] = RANGE.exec(typeof value === 'number' ? String(value) : textOf(name, value)) ?? [];
  if (first === undefined)
    throw invalid(`/${name}`, `must be a range such as "10-20", "10-" or "10", not ${show(value)}`);
  const range = {
    first: Number(first),
    last: dash === undefined ? Number(first) : last ? Number(last) : Number.POSITIVE_INFINITY,
  };
  if (range.first < least) throw invalid(`/${name}`, `begins at ${range.first}; ${name} are counted from ${least}`);
  if (range.last < range.first) throw invalid(`/${name}`, `ends before it begins: ${show(value)}`);
  return range;
}

function textOf(name: string, value: Json): string {
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX_CHARS) return value;
  throw invalid(`/${name}`, `must be text of 1 to ${TEXT_MAX_CHARS} characters, not ${show(value)}`);
}

function show(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 80)}…`;
}

function invalid(pointer: string, fault: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `/view${pointer} ${fault}`, {
    remedy: `Pass a name (${BY_NAME.join(', ')}) or an object with one of ${VIEW_NAMES.join(', ')}; see \`tool_view --help --extended\`.`,
    details: { faults: [{ pointer: `/view${pointer}`, fault }] },
  });
}
