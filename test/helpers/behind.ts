import type { PassingRequests } from '#src/call/passing.js';
import type { CallAnswer, CallRequest } from '#src/call/request.js';
import { failureEnvelope } from '#src/core/envelope.js';
import { type ContextdError, ERROR_TABLE } from '#src/core/errors.js';
import { McpError } from '#src/core/passing.js';
import type {
  QuarantinedItem__Output as QuarantinedItem,
  QuarantineResponse__Output as QuarantineResponse,
} from '#src/protocol/generated/management.js';
import { loadProtocol } from '#src/protocol/load.js';
import type { Management, RpcMethod, RpcName } from '#src/protocol/management-contract.js';
import { rpcMethods, wireName } from '#src/protocol/management-rpcs.js';

/** Answers with the call as it reached dispatch. */
export function echo({ requestId, tool, inputJson }: CallRequest): CallAnswer {
  return { line: JSON.stringify({ requestId, tool, input: inputJson.toString() }), exitCode: 0, errorLine: '' };
}

/** No project has MCP servers. */
export const noServers: PassingRequests = {
  request: async () => Promise.reject(new McpError(-32_601, 'there is no server')),
  closeClient: async () => {},
  follow: () => () => {},
};

export function refuse(request: CallRequest, error: ContextdError): CallAnswer {
  const envelope = failureEnvelope({ error, meta: { version: 'response-v2', request_id: request.requestId } });
  return { line: JSON.stringify(envelope), exitCode: ERROR_TABLE[error.code].exitCode, errorLine: error.message };
}

/**
 * A management service with fixed answers, except for the given ones. Where nothing is fixed, an answer has the fields of
 * the request that it shares, and is empty otherwise.
 */
export function management(own: Partial<Management> = {}): Management {
  return {
    ...rpcMethods(answering),
    installTool: async () => ({}),
    getSchema: async () => ({ schema_json: '{}', tool_md: '', tool_extended_md: '', bundle_sha256: '' }),
    watchTools: async () => ({ tools: [], version: 'none', surface: 'tools' }),
    ...FIXED,
    ...own,
  };
}

const { service } = loadProtocol().ManagementService;

function answering<Name extends RpcName>(name: Name): RpcMethod<Name> {
  const rpc = Object.entries(service).find(([wire]) => wire === wireName(name))?.[1];
  if (rpc === undefined) throw new Error(`the service has no rpc ${name}`);
  return async (request) => {
    const empty = rpc.responseDeserialize(Buffer.alloc(0));
    const shared = Object.entries(request).filter(([field, value]) => typeof value === typeof empty[field]);
    return { ...empty, ...Object.fromEntries(shared) };
  };
}

function setAside(id: string): QuarantinedItem {
  return {
    id,
    path: 'a/.envrc',
    moved: `/state/quarantine/0/${id}/.envrc`,
    reason: 'r',
    set_aside_ms: 4,
    kind: 'file',
    size_bytes: 0,
    sha256: '',
    no_hash_because: 'n',
    preview: '',
  };
}

const one = async ({ which }: { which: string }): Promise<QuarantineResponse> => ({
  items: [setAside(which)],
  accepted: [],
});

const FIXED: Partial<Management> = {
  serverStatus: async () => ({
    pid: process.pid,
    version: '1.2.3',
    uptime_ms: 1,
    socket: '/s',
    calls: 2,
    active_calls: 1,
    projects: 3,
    resident_bytes: 2 ** 33,
    protocol_version: 2,
    isolation: 'full',
    bad_links: [],
    steps: [],
    sandbox: {
      spawner_pid: 7,
      spawner_resident_bytes: 2 ** 26,
      running: 1,
      processes: 2,
      ready: [{ project: '/p', count: 2 }],
      ready_max: 32,
      ready_used: 3,
      totals: { memory_bytes: 2 ** 20, memory_max_bytes: 2 ** 34, pids: 5, pids_max: 8192 },
    },
  }),
  stopServer: async () => ({ pid: process.pid, active_calls: 0, ended_calls: 0 }),
  approveRules: async ({ root, sha256 }) => ({
    path: root,
    sha256,
    approved: true,
    rules: 0,
    allowances: [],
    fault: '',
  }),
  listQuarantine: async ({ which }) => ({ items: which === '' ? [] : [setAside(which)], accepted: [] }),
  restoreQuarantined: one,
  removeQuarantined: one,
  acceptQuarantined: async ({ which, sha256 }) => ({
    items: [setAside(which)],
    accepted: [{ path: 'a/.envrc', sha256, accepted_ms: 5 }],
  }),
};
