import { describe, expect, it } from 'vitest';
import { exporterOf } from '#src/audit/export.js';
import { type AuditRecord, NO_END } from '#src/audit/record.js';
import { isJsonObject } from '#src/core/json.js';

/**
 * The class API Activity of OCSF 1.3.0, as https://schema.ocsf.io/1.3.0/classes/api_activity prints it: which attributes are
 * required, their types, and the numbers that an enum allows. `oneOf`: an object needs at least one of them.
 */
const REQUIRED: Record<string, 'integer' | 'string' | 'object'> = {
  activity_id: 'integer',
  actor: 'object',
  api: 'object',
  'api.operation': 'string',
  'api.request.uid': 'string',
  category_uid: 'integer',
  class_uid: 'integer',
  metadata: 'object',
  'metadata.product': 'object',
  'metadata.product.vendor_name': 'string',
  'metadata.version': 'string',
  severity_id: 'integer',
  src_endpoint: 'object',
  time: 'integer',
  type_uid: 'integer',
};
const OPTIONAL: Record<string, 'integer' | 'string' | 'object'> = {
  activity_name: 'string',
  'actor.app_name': 'string',
  'actor.session.uid': 'string',
  'actor.user.name': 'string',
  'api.response.code': 'integer',
  'api.response.error': 'string',
  category_name: 'string',
  class_name: 'string',
  duration: 'integer',
  'metadata.product.name': 'string',
  'metadata.product.version': 'string',
  'metadata.uid': 'string',
  'src_endpoint.name': 'string',
  status_code: 'string',
  status_id: 'integer',
};
const ENUMS: Record<string, readonly number[]> = {
  activity_id: [0, 1, 2, 3, 4, 99],
  category_uid: [6],
  class_uid: [6003],
  severity_id: [0, 1, 2, 3, 4, 5, 6, 99],
  status_id: [0, 1, 2, 99],
};
const ONE_OF: Record<string, readonly string[]> = {
  actor: ['process', 'user', 'invoked_by', 'session', 'app_name', 'app_uid'],
  src_endpoint: [
    'ip',
    'uid',
    'name',
    'hostname',
    'svc_name',
    'instance_uid',
    'interface_uid',
    'interface_name',
    'domain',
  ],
};

const RECORD: AuditRecord = {
  ...NO_END,
  time: '2026-01-31T12:00:00.000Z',
  request_id: 'req_1',
  session: 's',
  project: '/p',
  door: 'grpc',
  tool: 'safe_bash',
  input: { command: 'true' },
  duration_ms: 12.3,
  exit_code: 0,
};

function eventOf(record: AuditRecord): Record<string, unknown> {
  return JSON.parse(exporterOf('ocsf', '0.1.0').write({ record, line: '' }));
}

function at(event: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isJsonObject(value) ? value[key] : undefined), event);
}

function typeOf(value: unknown): string {
  return Number.isInteger(value) ? 'integer' : isJsonObject(value) ? 'object' : typeof value;
}

/** Paths of all values that are no object, but for what the class has no place for. */
function leavesOf(value: unknown, path = ''): string[] {
  if (path === 'unmapped') return [];
  if (!isJsonObject(value)) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`));
}

describe('an exported event of OCSF', () => {
  it.each([
    ['a call that succeeded', RECORD],
    ['a call by HTTP that failed', { ...RECORD, door: 'http', token: 'ci', error_code: 'TIMEOUT', exit_code: 124 }],
    ['the start of a call', { ...RECORD, kind: 'started', exit_code: null } as const],
    ['an act of a person', { ...RECORD, kind: 'person', door: 'ctxd', session: '', tool: 'network allow' } as const],
  ])('SEC-5.2 has what the schema requires, with its types and numbers: %s', (_, record) => {
    const event = eventOf(record);
    for (const [path, type] of Object.entries(REQUIRED)) expect([path, typeOf(at(event, path))]).toEqual([path, type]);
    const known: Record<string, string> = { ...REQUIRED, ...OPTIONAL };
    for (const path of leavesOf(event)) expect([path, typeOf(at(event, path))]).toEqual([path, known[path]]);
    for (const [path, numbers] of Object.entries(ENUMS)) expect(numbers).toContain(at(event, path));
    for (const [path, keys] of Object.entries(ONE_OF))
      expect(keys.filter((key) => at(event, `${path}.${key}`) !== undefined)).not.toEqual([]);
    expect(event.type_uid).toBe(Number(event.class_uid) * 100 + Number(event.activity_id));
    expect(at(event, 'metadata.version')).toBe('1.3.0');
  });
});
