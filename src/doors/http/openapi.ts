import { ERROR_TABLE } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { HttpRoute } from './route.ts';

/** The description of the routes as OpenAPI 3.1. It holds nothing that is not in the table of routes or of errors. */
export function openApiOf(routes: readonly HttpRoute[], version: string): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    path[route.method.toLowerCase()] = operationOf(route);
    paths[route.path] = path;
  }
  return {
    openapi: '3.1.0',
    info: { title: 'contextd', version, description: 'The HTTP API of contextd (docs/http.md).' },
    paths,
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }, schemas: SCHEMAS },
  };
}

function operationOf({
  method,
  path,
  permission,
  wholeMachine,
  summary,
  query,
  required,
  body,
  answer,
}: HttpRoute): JsonObject {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
  }));
  const inQuery = Object.entries(query ?? {}).map(([name, schema]) => ({
    ...{ name, in: 'query', required: required?.includes(name) ?? false, schema },
  }));
  return {
    operationId: operationIdOf(method, path),
    summary,
    security: permission === null ? [] : [{ bearer: [] }],
    ...(permission === null ? {} : { 'x-permission': permission }),
    ...(wholeMachine === true ? { 'x-scope': 'machine' } : {}),
    parameters: [...inPath, ...inQuery],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      '200': { description: answer.description, content: { [answer.type]: { schema: answer.schema } } },
      default: {
        description: 'A failure; the status follows from its error code (docs/errors.md).',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
      },
    },
  };
}

/** `POST /v1/tools/{tool}/execute` is `post_v1_tools_tool_execute`. */
function operationIdOf(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replaceAll(/[{}]/g, '').replaceAll(/[^A-Za-z0-9]+/g, '_')}`;
}

const TEXT = { type: 'string' } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;

function envelopeOf(success: boolean | null, data: JsonObject): JsonObject {
  return {
    type: 'object',
    required: ['success', 'data', 'error', 'refs', 'tokens_used', 'has_more', 'truncated', 'meta'],
    properties: {
      success: success === null ? { type: 'boolean' } : { const: success },
      data,
      error: { type: success === false ? 'string' : ['string', 'null'] },
      refs: { type: 'array', items: TEXT },
      tokens_used: COUNT,
      has_more: { type: 'boolean' },
      truncated: { type: 'boolean' },
      meta: {
        type: 'object',
        required: ['version', 'request_id'],
        properties: { version: { const: 'response-v2' }, request_id: TEXT },
        additionalProperties: true,
      },
    },
  };
}

const SCHEMAS: JsonObject = {
  Envelope: envelopeOf(null, { type: 'object', additionalProperties: true }),
  Failure: envelopeOf(false, {
    type: 'object',
    required: ['error_code', 'error_type', 'retryable'],
    properties: {
      error_code: { type: 'string', enum: Object.keys(ERROR_TABLE) },
      error_type: TEXT,
      retryable: { type: 'boolean' },
      remediation: { type: ['string', 'null'] },
      retry_after_ms: COUNT,
    },
    additionalProperties: true,
  }),
  Tool: {
    type: 'object',
    additionalProperties: false,
    required: ['name', 'purpose', 'version', 'origin', 'grants', 'state', 'schema'],
    properties: {
      name: TEXT,
      purpose: TEXT,
      version: TEXT,
      origin: { type: 'string', enum: ['core', 'installed'] },
      grants: { type: 'array', items: TEXT },
      state: { type: 'string', description: 'ready, or what is wrong.' },
      schema: { type: 'object', additionalProperties: true, description: 'JSON Schema of the arguments.' },
    },
  },
  ApprovalRule: {
    type: 'object',
    additionalProperties: false,
    required: ['id', 'tool', 'when', 'reason'],
    properties: { id: TEXT, tool: TEXT, when: TEXT, reason: TEXT },
  },
  Approval: {
    type: 'object',
    additionalProperties: false,
    required: [
      'id',
      'rule',
      'project',
      'session',
      'branch',
      'tool',
      'cwd',
      'calls',
      'asked_at',
      'text',
      'text_chars',
      'text_withheld',
      'hidden',
    ],
    properties: {
      id: TEXT,
      rule: { $ref: '#/components/schemas/ApprovalRule' },
      project: TEXT,
      session: TEXT,
      branch: TEXT,
      tool: TEXT,
      cwd: TEXT,
      calls: { ...COUNT, description: 'Identical calls that wait for the answer.' },
      asked_at: { type: 'string', description: 'ISO 8601.' },
      text: {
        type: ['string', 'null'],
        description: 'The whole input. Null in a list if it is long (ask for the id), and if it is withheld.',
      },
      text_chars: COUNT,
      text_withheld: { type: 'boolean', description: 'True if the text could not be searched for secrets.' },
      hidden: {
        type: 'array',
        items: TEXT,
        description:
          'A sentence for each mask in the text: what it hides is part of what runs. Show them with the text.',
      },
    },
  },
  Health: {
    type: 'object',
    additionalProperties: false,
    required: ['healthy', 'version', 'protocol_version', 'uptime_ms', 'calls', 'active_calls', 'isolation', 'checks'],
    properties: {
      healthy: { type: 'boolean' },
      version: TEXT,
      protocol_version: COUNT,
      uptime_ms: COUNT,
      calls: COUNT,
      active_calls: COUNT,
      isolation: TEXT,
      checks: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['name', 'status', 'detail', 'remedy'],
          properties: {
            name: TEXT,
            status: { type: 'string', enum: ['ok', 'warn', 'fail'] },
            detail: TEXT,
            remedy: TEXT,
          },
        },
      },
    },
  },
};
