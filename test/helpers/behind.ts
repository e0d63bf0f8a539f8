import { exitCodeOf, failureEnvelope } from '#src/core/envelope.js';
import type { ContextdError } from '#src/core/errors.js';
import type { CallAnswer, CallRequest, Management, QuarantinedInfo } from '#src/server/door.js';

/** Answers with the call as it reached dispatch. */
export function echo({ requestId, tool, inputJson }: CallRequest): CallAnswer {
  return { line: JSON.stringify({ requestId, tool, input: inputJson.toString() }), exitCode: 0, errorLine: '' };
}

export function refuse(request: CallRequest, error: ContextdError): CallAnswer {
  const envelope = failureEnvelope({ error, meta: { version: 'response-v2', request_id: request.requestId } });
  return { line: JSON.stringify(envelope), exitCode: exitCodeOf(error.code), errorLine: error.message };
}

/** A management service with fixed answers, except for the given ones. */
export function management(own: Partial<Management> = {}): Management {
  return { ...FIXED, ...own };
}

const NO_RULES = { sha256: null, approved: false, rules: 0, allowances: [], fault: null };

function setAside(id: string): QuarantinedInfo {
  return {
    ...{ id, path: 'a/.envrc', moved: `a/.envrc.quarantined-${id}`, reason: 'r', at: 4, kind: 'file' },
    ...{ sizeBytes: 0, sha256: null, noHashBecause: 'n', preview: null },
  };
}

const FIXED: Management = {
  serverStatus: async () => ({
    pid: process.pid,
    version: '1.2.3',
    uptimeMs: 1,
    socket: '/s',
    calls: 2,
    activeCalls: 1,
    projects: 3,
    residentBytes: 2 ** 33,
    protocolVersion: 1,
    isolation: 'full',
    sandbox: {
      spawnerPid: 7,
      spawnerRssBytes: 2 ** 26,
      running: 1,
      processes: 2,
      ready: [{ workspace: '/p', count: 2 }],
      readyMax: 32,
      readyUsed: 3,
      totals: { memoryBytes: 2 ** 20, memoryMaxBytes: 2 ** 34, pids: 5, pidsMax: 8192 },
    },
  }),
  stopServer: async () => ({ pid: process.pid, activeCalls: 0, endedCalls: 0 }),
  registerProject: async (root) => ({ root, changed: true, tools: [] }),
  unregisterProject: async (root) => ({ root, changed: false, tools: [] }),
  listTools: async () => [],
  tailAudit: async () => [],
  checkHealth: async () => [],
  sessionSecrets: async (root, session) => ({ root, session, secrets: [] }),
  stats: async () => [],
  reviewRules: async (root) => ({ ...NO_RULES, path: root }),
  approveRules: async (root, sha256) => ({ ...NO_RULES, path: root, sha256, approved: true }),
  revokeRules: async (root) => ({ ...NO_RULES, path: root }),
  listQuarantine: async (_root, which) => ({ items: which === '' ? [] : [setAside(which)], accepted: [] }),
  restoreQuarantined: async (_root, which) => ({ items: [setAside(which)], accepted: [] }),
  acceptQuarantined: async (_root, which, sha256) => ({
    items: [setAside(which)],
    accepted: [{ path: 'a/.envrc', sha256, at: 5 }],
  }),
  revokeAccepted: async (_root, path) => ({ items: [], accepted: [{ path, sha256: '0'.repeat(64), at: 5 }] }),
  getSchema: async () => ({ schemaJson: '{}', toolMd: '', toolExtendedMd: '', bundleSha256: '' }),
};
