import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';
import { CHECKPOINT_FORMAT, type CheckpointBody, checksumOf, openBody, readBody, renderBody } from './checkpoint.ts';
import { notKept } from './checkpoint-files.ts';

/** Says what the file is. */
const KIND = 'contextd checkpoint';

/** What an exported file says. All of it came from another machine: it is masked again before it is stored. */
export interface ReadFile {
  readonly name: string;
  readonly createdMs: number;
  readonly body: CheckpointBody;
}

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
  return { name, createdMs, body: { ...opened, files: OTHER_MACHINE } };
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
    remedy: 'Pass a file that `ctxd checkpoint export` wrote.',
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
