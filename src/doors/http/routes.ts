import { WRITTEN_ANSWER_PATTERN } from '../../core/approval-answers.ts';
import type { JsonObject } from '../../core/json.ts';
import { SURFACES } from '../../core/surfaces.ts';
import { NONCE_PATTERN, proofOf, TOKEN_ID_PATTERN } from '../../protocol/http-proof.ts';
import { PACKAGE_VERSION, PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { checkRequests } from '../management-requests.ts';
import { json, type PlainAnswer, plain } from './answers.ts';
import { answerApproval, listApprovals } from './approvals.ts';
import { eventStream } from './events.ts';
import { executeTool } from './execute.ts';
import { METRICS_TYPE, renderMetrics } from './metrics.ts';
import { openApiOf } from './openapi.ts';
import { projectOf } from './project-of.ts';
import type { HttpRoute, RouteDeps, RouteRequest } from './route.ts';

const JSON_TYPE = 'application/json';
const TEXT = { type: 'string' } as const;
const PROJECT = { type: 'string', description: 'Absolute path of a registered project.' } as const;
const MCP_QUERY = {
  project: PROJECT,
  session: { ...TEXT, description: 'Session id of the calls.' },
  surface: { enum: SURFACES, description: 'What the client sees. Default: gateway.surface.' },
} as const;
const CALL_BODY: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['input'],
  properties: {
    project: { ...PROJECT, description: 'Absolute path of a registered project. Needless if the token is for one.' },
    input: {
      description: 'The arguments of the tool, or plain words for its primary property.',
      examples: [{ command: 'npm test' }],
      anyOf: [{ type: 'object', additionalProperties: true }, { type: 'string' }],
    },
    session: { type: 'string', description: 'Session id. Without it: the current session of the project.' },
    branch: { type: 'string', description: 'A branch of the session.' },
    cwd: { type: 'string', description: 'A directory in the project, absolute. Without it: its root.' },
  },
};
const ENVELOPE: HttpRoute['answer'] = {
  type: JSON_TYPE,
  description: 'The envelope of the call (docs/answers.md).',
  schema: { $ref: '#/components/schemas/Envelope' },
};

/** Every route of the door. */
export const ROUTES: readonly HttpRoute[] = [
  {
    method: 'POST',
    path: '/v1/tools/{tool}/execute',
    permission: 'execute',
    summary: 'Calls a tool.',
    body: CALL_BODY,
    answer: ENVELOPE,
    handle: (request, deps) => executeTool(request.params.tool ?? '', request, deps),
  },
  {
    method: 'GET',
    path: '/v1/tools',
    permission: 'read',
    summary: 'Lists the tools that a project accepted, or those of contextd.',
    query: { project: PROJECT },
    answer: {
      type: JSON_TYPE,
      description: 'The tools, by name.',
      schema: objectOf({ tools: { type: 'array', items: { $ref: '#/components/schemas/Tool' } } }),
    },
    handle: listTools,
  },
  {
    method: 'GET',
    path: '/v1/health',
    permission: 'read',
    summary: 'Says that the daemon works; with checks=true after testing its parts, which takes seconds.',
    query: { checks: { type: 'string', enum: ['true', 'false'] } },
    answer: {
      type: JSON_TYPE,
      description: 'The state of the daemon. `healthy` is false if a check failed.',
      schema: { $ref: '#/components/schemas/Health' },
    },
    handle: health,
  },
  {
    method: 'POST',
    path: '/v1/memory/search',
    permission: 'read',
    summary: 'Searches the memories of a project: a call of memory_search.',
    body: CALL_BODY,
    answer: ENVELOPE,
    handle: (request, deps) => executeTool('memory_search', request, deps),
  },
  {
    method: 'POST',
    path: '/v1/checkpoint/save',
    permission: 'execute',
    summary: 'Saves what a session did: a call of checkpoint_save.',
    body: CALL_BODY,
    answer: ENVELOPE,
    handle: (request, deps) => executeTool('checkpoint_save', request, deps),
  },
  {
    method: 'POST',
    path: '/mcp',
    permission: 'execute',
    summary:
      'The tools of a project for clients of the Model Context Protocol: streamable HTTP, with sessions for older clients of the surface passthrough.',
    query: MCP_QUERY,
    body: { type: 'object', additionalProperties: true },
    answer: {
      type: JSON_TYPE,
      description: 'An answer of the Model Context Protocol; with progress an event stream.',
      schema: { type: 'object' },
    },
    handle: async (request, deps) => (await import('./mcp.ts')).serveMcp(request, deps),
  },
  mcpSession(
    'GET',
    'The stream of notifications of a session of the surface passthrough; 405 without one.',
    'The stream',
  ),
  mcpSession('DELETE', 'Ends a session of the surface passthrough; 405 without one.', 'Nothing'),
  {
    method: 'GET',
    path: '/v1/approvals',
    permission: 'decide',
    summary: 'Lists the calls that wait for a person, oldest first.',
    query: {
      project: PROJECT,
      id: { type: 'string', description: 'A question (ask_…): then its text is whole, whatever its length.' },
    },
    answer: {
      type: JSON_TYPE,
      description: 'The questions. The text of a call is data of the agent, with its secrets masked.',
      schema: objectOf({ approvals: { type: 'array', items: { $ref: '#/components/schemas/Approval' } } }),
    },
    handle: listApprovals,
  },
  {
    method: 'POST',
    path: '/v1/approvals/{id}/answer',
    permission: 'decide',
    summary: 'Answers a question (ask_…), or a rule (rule_…) in a project before a call asks.',
    body: {
      type: 'object',
      additionalProperties: false,
      required: ['answer'],
      properties: {
        answer: {
          type: 'string',
          pattern: WRITTEN_ANSWER_PATTERN.source,
          description: 'once (not for a rule), always, never, or a time such as 1h.',
          examples: ['once'],
        },
        calls: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000,
          description: '`calls` of the question as it was shown (default 1): `once` covers no more calls.',
        },
        project: { ...PROJECT, description: `${PROJECT.description} A rule needs it, unless the token is for one.` },
      },
    },
    answer: {
      type: JSON_TYPE,
      description: 'What the answer did.',
      schema: objectOf({
        rule: { $ref: '#/components/schemas/ApprovalRule' },
        project: TEXT,
        calls: { type: 'integer', minimum: 0, description: 'Waiting calls that the answer settled.' },
        expires_at: { type: ['string', 'null'], description: 'ISO 8601. Null: nothing is kept, or without an end.' },
      }),
    },
    handle: answerApproval,
  },
  {
    method: 'GET',
    path: '/metrics',
    permission: 'read',
    wholeMachine: true,
    summary: 'Figures since the daemon started, for Prometheus.',
    answer: { type: 'text/plain', description: 'Text format 0.0.4 of Prometheus.', schema: TEXT },
    handle(_request, { figures, otherConnections, connections }) {
      return plain(renderMetrics(figures(), { ...otherConnections(), http: connections() }), METRICS_TYPE);
    },
  },
  {
    method: 'GET',
    path: '/events',
    permission: 'read',
    summary: 'Calls, jobs, network, sessions and approvals as they happen, as server-sent events.',
    answer: { type: 'text/event-stream', description: 'docs/http.md describes the events.', schema: TEXT },
    handle: ({ grant, lastEventId }, { feed, tokens, closing }) =>
      eventStream({
        feed,
        scope: grant.scope,
        lastEventId,
        isAllowed: () => tokens.isValid(grant),
        signal: closing,
      }),
  },
  {
    method: 'GET',
    path: '/openapi.json',
    permission: 'read',
    summary: 'This description.',
    answer: { type: JSON_TYPE, description: 'OpenAPI 3.1.', schema: { type: 'object', additionalProperties: true } },
    handle: () => json(openApiOf(ROUTES, PACKAGE_VERSION)),
  },
  {
    method: 'GET',
    path: '/v1/proof',
    permission: null,
    summary: 'Answers a challenge, so that a client knows whom it is about to send its token to.',
    query: {
      nonce: {
        type: 'string',
        pattern: NONCE_PATTERN.source,
        description: 'Random bytes, hexadecimal.',
        examples: ['00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'],
      },
      id: { type: 'string', pattern: TOKEN_ID_PATTERN.source, description: 'The id in the token file.' },
    },
    required: ['nonce'],
    answer: {
      type: JSON_TYPE,
      description: 'HMAC-SHA256, hexadecimal (docs/http.md).',
      schema: objectOf({ proof: TEXT }),
    },
    handle: ({ query }, { proofKey, host }) =>
      json({ proof: proofOf(proofKey(query.id ?? ''), host, query.nonce ?? '') }),
  },
];

function objectOf(properties: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}

async function listTools({ grant, query }: RouteRequest, { management }: RouteDeps): Promise<PlainAnswer> {
  const root = projectOf(query.project ?? '', grant);
  const { tools } = await checkRequests(management).listTools({ root, offered: false });
  return json({
    tools: tools.map(({ name, purpose, version, origin, grants, state, schema_json }) => ({
      ...{ name, purpose, version, origin, grants, state },
      schema: JSON.parse(schema_json),
    })),
  });
}

async function health({ grant, query }: RouteRequest, { management }: RouteDeps): Promise<PlainAnswer> {
  const asked = checkRequests(management);
  const { uptime_ms, calls, active_calls, isolation } = await asked.serverStatus({});
  const { checks } = query.checks === 'true' ? await asked.checkHealth({ project_root: grant.scope }) : { checks: [] };
  return json({
    healthy: checks.every(({ status }) => status !== 'fail'),
    version: PACKAGE_VERSION,
    protocol_version: PROTOCOL_VERSION,
    ...{ uptime_ms, calls, active_calls, isolation },
    checks: checks.map(({ name, status, detail, remedy }) => ({ name, status, detail, remedy })),
  });
}

/** What a client of an older revision asks of its session besides its requests. */
function mcpSession(method: 'GET' | 'DELETE', summary: string, answer: string): HttpRoute {
  return {
    method,
    path: '/mcp',
    permission: 'execute',
    summary,
    query: MCP_QUERY,
    answer: { type: JSON_TYPE, description: `${answer}, or the refusal.`, schema: { type: 'object' } },
    handle: async (request, deps) => (await import('./mcp.ts')).serveSession(request, deps),
  };
}
