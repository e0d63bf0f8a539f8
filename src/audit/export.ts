import { escapedJson, escapedText } from '../core/invisible.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { AuditRecord } from './record.ts';
import type { LoggedRecord } from './select.ts';

export const EXPORT_FORMATS = ['jsonl', 'csv', 'ocsf'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What writes records in a format, each with its newline. */
export interface Exporter {
  /** Comes before the first record. */
  readonly head: string;
  write(logged: LoggedRecord): string;
}

/** `version`: of contextd. */
export function exporterOf(format: ExportFormat, version: string): Exporter {
  switch (format) {
    case 'jsonl':
      return { head: '', write: ({ line }) => `${escapedJson(withoutSpace(line))}\n` };
    case 'csv':
      return {
        head: csvLine([...CSV_COLUMNS]),
        write: ({ record }) => csvLine(CSV_COLUMNS.map((name) => cell(record[name]))),
      };
    case 'ocsf':
      return { head: '', write: ({ record }) => `${escapedJson(JSON.stringify(ocsfEvent(record, version)))}\n` };
  }
}

/** The log writes no space between values. A line with one is not from it, and could not be escaped character by character. */
function withoutSpace(line: string): string {
  return /[\t\r]/.test(line) ? JSON.stringify(JSON.parse(line)) : line;
}

const CSV_COLUMNS = [
  'time',
  'kind',
  'request_id',
  'door',
  'project',
  'session',
  'branch',
  'tool',
  'input',
  'exit_code',
  'error_code',
  'duration_ms',
  'output_bytes',
  'output_sha256',
  'secrets_found',
  'secret_rules',
] as const satisfies readonly (keyof AuditRecord)[];

/** RFC 4180. */
function csvLine(cells: readonly string[]): string {
  return `${cells.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',')}\r\n`;
}

/**
 * A spreadsheet takes a text that begins like a formula for one and runs it; an apostrophe keeps it a text. Some programs leave out
 * space and invisible characters before it, or take the wide forms of the signs.
 */
function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = escapedText(typeof value === 'string' ? value : JSON.stringify(value));
  return FORMULA.test(text) ? `'${text}` : text;
}

const FORMULA =
  /^(?:[\t\r\n]|[\s\p{Cf}\p{Default_Ignorable_Code_Point}]*[=+\-@\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20])/u;

const OCSF = { version: '1.3.0', class: 6003, category: 6 } as const;
const ACTIVITY_OTHER = 99;
const SEVERITY = { informational: 1, low: 2 } as const;
const STATUS = { success: 1, failure: 2 } as const;

/** An event of the Open Cybersecurity Schema Framework, class API Activity. What the class has no place for is in `unmapped`. */
function ocsfEvent(record: AuditRecord, version: string): JsonObject {
  const { time, request_id, session, project, door, token, tool, duration_ms, exit_code, error_code, ...rest } = record;
  const isFailed = error_code !== null || (exit_code ?? 0) !== 0;
  return {
    time: Date.parse(time),
    class_uid: OCSF.class,
    class_name: 'API Activity',
    category_uid: OCSF.category,
    category_name: 'Application Activity',
    activity_id: ACTIVITY_OTHER,
    activity_name: record.kind ?? 'call',
    type_uid: OCSF.class * 100 + ACTIVITY_OTHER,
    severity_id: isFailed ? SEVERITY.low : SEVERITY.informational,
    status_id: isFailed ? STATUS.failure : STATUS.success,
    ...(error_code === null ? {} : { status_code: error_code }),
    // A whole number in this schema.
    duration: Math.round(duration_ms),
    metadata: {
      version: OCSF.version,
      product: { name: 'contextd', vendor_name: 'contextd', version },
      uid: request_id,
    },
    actor: { app_name: door, session: { uid: session }, ...(token === undefined ? {} : { user: { name: token } }) },
    api: { operation: tool, request: { uid: request_id }, response: { code: exit_code ?? 0, error: error_code ?? '' } },
    src_endpoint: { name: 'localhost' },
    unmapped: { project, ...withoutUndefined(rest) },
  };
}

function withoutUndefined(fields: object): Record<string, Json> {
  return JSON.parse(JSON.stringify(fields));
}
