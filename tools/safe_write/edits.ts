import { setImmediate } from 'node:timers/promises';
import type { Span } from '../../src/sdk/file-bytes.ts';
import { invalid, readObjectList, readText } from '../../src/sdk/input.ts';
import { ContextdError, type JsonObject } from '../../src/sdk/tool.ts';
import { quoteName } from '../../src/sdk/workspace-path.ts';
import { EDITABLE_MAX_BYTES } from './existing-file.ts';
import { findAllBytes, findBytes } from './find-text.ts';
import { afterReplacement, isCrlfThroughout, LineCounter, toCrlf } from './lines.ts';
import { findNearMiss } from './near-miss.ts';

/** The most edits of one call. */
const EDITS_MAX = 1_000;
/** The most places named in a message. */
const PLACES_MAX = 10;

export interface Edit {
  old: string;
  /** Empty: `old` is deleted. */
  new: string;
  /** True: replaces every occurrence. False: `old` must occur once. */
  all: boolean;
}

export interface Edited {
  content: Buffer;
  replacements: number;
  /** The changed spans of `content`. */
  changed: readonly Span[];
  /** True if newlines of the edits were converted to CRLF, as in the file. */
  toCrlf: boolean;
}

/** Throws ARGS_INVALID for anything but a list of edits, and for an empty `old`. */
export function readEdits(input: JsonObject): Edit[] {
  const list = readObjectList(input, 'edits');
  if (list.length === 0) throw invalid('edits', 'is empty', 'Pass a list of {old, new}.');
  if (list.length > EDITS_MAX) throw invalid('edits', `has ${list.length} items, the limit is ${EDITS_MAX}`);
  return list.map((item, index) => readEdit(item, `edits/${index}`));
}

function readEdit(item: JsonObject, name: string): Edit {
  const texts = { [`${name}/old`]: item.old ?? null, [`${name}/new`]: item.new ?? null };
  const old = readText(texts, `${name}/old`);
  if (old === '') throw invalid(`${name}/old`, 'is empty', 'Give a text of the file and repeat it in "new".');
  const { all = false } = item;
  if (typeof all !== 'boolean') throw invalid(`${name}/all`, 'must be true or false');
  return { old, new: readText(texts, `${name}/new`), all };
}

/**
 * Applies exact replacements, each to the result of those before it. Throws CONFLICT if an `old` does not occur, or occurs
 * more than once without `all`; nothing is changed then. In a file with only CRLF line ends, newlines of edits without a
 * carriage return are converted to CRLF; in a file with both line ends, if the replaced lines have CRLF.
 */
export async function applyEdits(
  before: Buffer,
  edits: readonly Edit[],
  { shown, signal }: { shown: string; signal: AbortSignal },
): Promise<Edited> {
  const adapt = isCrlfThroughout(before) ? asCrlf : before.includes('\r\n') ? fitMixed : (edit: Edit) => edit;
  const edited: Edited = { content: before, replacements: 0, changed: [], toCrlf: false };
  for (const [index, edit] of edits.entries()) {
    // Lets other calls of this process run.
    await setImmediate();
    signal.throwIfAborted();
    const fitted = adapt(edit, edited.content);
    if (fitted.old !== edit.old || fitted.new !== edit.new) edited.toCrlf = true;
    replace(edited, fitted, { index, shown, before });
  }
  return edited;
}

function asCrlf(edit: Edit): Edit {
  if (edit.old.includes('\r') || edit.new.includes('\r')) return edit;
  return { ...edit, old: toCrlf(edit.old), new: toCrlf(edit.new) };
}

/** In a file with both line ends, the lines that are replaced decide. */
function fitMixed(edit: Edit, content: Buffer): Edit {
  if (edit.old.includes('\r') || edit.new.includes('\r')) return edit;
  const placeOf = (text: string): number | undefined =>
    findBytes(content, Buffer.from(text), { overlapping: false }).next().value ?? undefined;
  const at = placeOf(edit.old);
  if (edit.old.includes('\n')) {
    const crlf = asCrlf(edit);
    return at === undefined && placeOf(crlf.old) !== undefined ? crlf : edit;
  }
  if (at === undefined || edit.all) return edit;
  const newline = content.indexOf('\n', at);
  return newline > 0 && content[newline - 1] === RETURN ? { ...edit, new: toCrlf(edit.new) } : edit;
}

const RETURN = 0x0d;

interface EditPlace {
  index: number;
  shown: string;
  /** The file before all edits. */
  before: Buffer;
}

function replace(edited: Edited, edit: Edit, place: EditPlace): void {
  const { content } = edited;
  const [old, replacement] = [Buffer.from(edit.old), Buffer.from(edit.new)];
  const starts = edit.all ? findAllBytes(content, old) : findOne(content, old, place);
  if (starts.length === 0) throw notThere(content, old, place);
  const size = content.length + starts.length * (replacement.length - old.length);
  if (size > EDITABLE_MAX_BYTES) throw tooLarge(size, place);
  edited.content = build(content, starts, old.length, replacement, size);
  edited.replacements += starts.length;
  edited.changed = afterReplacement(edited.changed, { starts, old, new: replacement });
}

function build(content: Buffer, starts: Uint32Array, oldLength: number, replacement: Buffer, size: number): Buffer {
  const result = Buffer.allocUnsafe(size);
  let [from, to] = [0, 0];
  for (const start of starts) {
    to += content.copy(result, to, from, start);
    to += replacement.copy(result, to);
    from = start + oldLength;
  }
  content.copy(result, to, from);
  return result;
}

function findOne(content: Buffer, old: Buffer, place: EditPlace): Uint32Array {
  const starts: number[] = [];
  for (const at of findBytes(content, old, { overlapping: true })) {
    starts.push(at);
    if (starts.length > PLACES_MAX) break;
  }
  if (starts.length > 1) throw notOnce(content, starts, place);
  return Uint32Array.from(starts);
}

function notOnce(content: Buffer, starts: readonly number[], { index, shown }: EditPlace): ContextdError {
  const counter = new LineCounter(content);
  const lines = starts.slice(0, PLACES_MAX).map((at) => counter.lineOf(at));
  const often = starts.length > PLACES_MAX ? `more than ${PLACES_MAX} times` : `${starts.length} times`;
  return new ContextdError(
    'CONFLICT',
    `/edits/${index}/old occurs ${often} in ${quoteName(shown)}, at lines ${lines.join(', ')}`,
    {
      remedy: 'Include more of the text around it, or pass "all": true. Nothing was written.',
      details: { path: shown, edit: index, found: starts.length, lines },
    },
  );
}

function notThere(content: Buffer, old: Buffer, { index, shown, before }: EditPlace): ContextdError {
  const near = findNearMiss(content, old);
  const hint = near === null ? '' : `; the text at line ${near.line} differs only in ${near.differs}`;
  const [earlier] = index === 0 ? [] : findBytes(before, old, { overlapping: false });
  const cause = earlier === undefined ? '' : '; an earlier edit in the list changed it';
  return new ContextdError('CONFLICT', `/edits/${index}/old is not in ${quoteName(shown)}${cause}${hint}`, {
    remedy: 'Read the file again and copy the text exactly. Nothing was written.',
    details: { path: shown, edit: index, found: 0, ...(near === null ? {} : { nearest_line: near.line }) },
  });
}

function tooLarge(size: number, { index, shown }: EditPlace): ContextdError {
  return invalid(
    `edits/${index}`,
    `would make ${quoteName(shown)} ${size} bytes long, the limit is ${EDITABLE_MAX_BYTES}`,
    'Write it with a program through safe_bash.',
  );
}
