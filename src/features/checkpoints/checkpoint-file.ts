import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { CHECKPOINT_FORMAT, type CheckpointBody, checksumOf, openBody, readBody, renderBody } from './checkpoint.ts';
import { notKept } from './checkpoint-files.ts';
import { oneLine } from './session-facts.ts';

/** Says what the file is. */
const KIND = 'contextd checkpoint';

/** What an exported file says. All of it came from another machine: it is masked again before it is stored. */
export interface ReadFile {
  readonly name: string;
  readonly createdMs: number;
  readonly body: CheckpointBody;
}

/** What an export can have at most; a masked text is longer than its original. */
const BOUNDS = { name: 400, note: 40_000, text: 20_000, lines: 5_000, tools: 1_000, toolName: 64 };
/** The last millisecond that a date can name. */
const DATE_MAX_MS = 8.64e15;

const OTHER_MACHINE = notKept('it came from another session or machine, whose files are not here');

/** The text of an exported checkpoint. It names no files: their contents stay on this machine. */
export function renderFile({ name, createdMs, body }: ReadFile): string {
  const json = renderBody({ ...body, files: OTHER_MACHINE });
  const head = { name, createdMs, position: 0 };
  const file = {
    kind: KIND,
    format: CHECKPOINT_FORMAT,
    name,
    created_ms: createdMs,
    sha256: checksumOf(json, head),
    body: json,
  };
  return `${JSON.stringify(file)}\n`;
}

/** Anyone can write a file with the right checksum. Throws SCHEMA_INVALID for one that no export has written. */
function checkBounds({ name, createdMs, body: { note, facts, trail, madeWith } }: ReadFile): void {
  const lists = [facts.files, facts.failing, facts.branches, facts.todo];
  const texts = [...lists.flat(), facts.asked, facts.answered, ...trail.flatMap(({ kind, text }) => [kind, text])];
  const tools = Object.entries(madeWith.tools);
  const isTooLong =
    name.length > BOUNDS.name ||
    note.length > BOUNDS.note ||
    [...lists, trail].some((list) => list.length > BOUNDS.lines) ||
    texts.some((text) => text.length > BOUNDS.text) ||
    tools.length > BOUNDS.tools ||
    [madeWith.contextd, madeWith.config, ...tools.flat()].some((text) => text.length > BOUNDS.toolName);
  if (isTooLong) throw otherFile('a part of it is longer than contextd writes it');
  if (!Number.isSafeInteger(createdMs) || createdMs < 0 || createdMs > DATE_MAX_MS)
    throw otherFile(`${createdMs} is no time`);
}

/** Throws SCHEMA_INVALID for another file, VERSION_MISMATCH for a newer one, INTEGRITY_FAILED for a damaged one. */
export function readFile(text: string): ReadFile {
  const { kind, format, name, created_ms: createdMs, sha256, body } = parsed(text);
  if (kind !== KIND || typeof format !== 'number') throw otherFile('it does not say that it is one');
  if (
    typeof name !== 'string' ||
    typeof createdMs !== 'number' ||
    typeof sha256 !== 'string' ||
    typeof body !== 'string'
  )
    throw otherFile('a part of it is missing');
  const head = { name, createdMs, position: 0 };
  const opened = openBody('the file', head, { format, json: body, sha256 });
  const read = { name: oneLine(name, BOUNDS.name + 1), createdMs, body: { ...opened, files: OTHER_MACHINE } };
  checkBounds(read);
  return read;
}

function parsed(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw otherFile('it is no JSON object');
}

function otherFile(why: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `the file is not an exported checkpoint: ${why}`, {
    remedy: 'Pass a file that `ctxd checkpoint export ID` wrote.',
  });
}

/** The same with all texts replaced by masked ones. */
export async function maskFile(
  { name, createdMs, body }: ReadFile,
  mask: (value: Json) => Promise<Json>,
): Promise<ReadFile> {
  const masked = await mask({ name, body: JSON.parse(renderBody(body)) });
  const value = isJsonObject(masked) ? masked : {};
  return {
    name: typeof value.name === 'string' ? value.name : '',
    createdMs,
    body: readBody('the checkpoint', value.body ?? null),
  };
}
