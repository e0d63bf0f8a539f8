import { afterAll, beforeAll } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { ToolAccess } from '#src/catalog/tool-access.js';
import { systemClock } from '#src/core/clock.js';
import type { JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import type { McpMessage, PassedCall, PassedRequest } from '#src/core/passing.js';
import { PassedRequests } from '#src/features/upstreams/passed-requests.js';
import { createEngine } from '#src/scrub/hardened/engine.js';
import { readRuleSources } from '#src/scrub/rule-sources.js';
import { createScanner } from '#src/scrub/scan/scanner.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import type { StoredServer, StoredTool } from '#src/stores/upstream-servers.js';
import { DefinitionCollector, type DefinitionKind } from '#src/upstream/definitions.js';
import { snapshotOf } from '#src/upstream/snapshot.js';

const PROJECT = '/home/ann/shop';
const { pack, official } = readRuleSources();
const scanner = createScanner({
  config: { deadline_base_ms: 60_000, deadline_per_kb_ms: 0 },
  logger: silentLogger,
  readRules: async () => ({ pack, official }),
});

/** Call in a test file that uses `passing`. */
export function useScanner(): void {
  beforeAll(() => scanner.start());
  afterAll(() => scanner.stop());
}

/** What a server answers; undefined: it never does. */
export type Answers = (request: PassedRequest) => JsonObject | undefined;

export interface Given {
  answers: Answers;
  offers?: StoredTool[];
  seen?: StoredTool[];
  addedMs?: number;
}

const CAPABILITIES = { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} };

export function definitionsOf(kind: DefinitionKind, ...entries: object[]): StoredTool[] {
  const found = new DefinitionCollector(kind);
  found.add(entries);
  return [...found.result().tools];
}

/** The requests of a project with these servers. `late` ends every wait that is open. */
export function passing(servers: Record<string, Given>, deny: string[] = []) {
  const sent: { server: string; method: string; params: JsonObject }[] = [];
  const waits = new Set<() => void>();
  const last = new Map<string, number>();
  const scrubber = createScrubber({
    scanner,
    engine: createEngine(pack, { official }),
    numbers: {
      next({ session }: SessionRef) {
        last.set(session, (last.get(session) ?? 0) + 1);
        return last.get(session) ?? 0;
      },
      last: ({ session }: SessionRef) => last.get(session) ?? 0,
    },
    logger: silentLogger,
    clock: systemClock,
  });
  const stored = (): StoredServer[] =>
    Object.entries(servers).map(([name, { offers = [], seen = offers, addedMs = 1 }]) => ({
      project: PROJECT,
      name,
      spec: { command: ['node'], url: '', usesCredential: false, hosts: [], paths: [], project: 'none' },
      variables: {},
      addedMs,
      givenBy: 'ann',
      accepted: offers,
      seen,
    }));
  const requests = new PassedRequests({
    scrubber,
    secondSearch: {
      missedIn: async (texts) =>
        texts.flatMap((text) =>
          [...text.matchAll(/hush-\d{12}/g)].map(([value]) => ({ rule: 'gitleaks/hush', value })),
        ),
    },
    upstreams: {
      list: stored,
      find(_project, name) {
        const found = stored().find((server) => server.name === name);
        if (found === undefined) throw new Error(`no server ${name}`);
        return found;
      },
      snapshot: async () => snapshotOf(stored().map(({ name, seen }) => ({ name, offers: seen, files: 'none' }))),
    },
    links: {
      follow: () => () => {},
      closeClient: async () => {},
      capabilities: async () => CAPABILITIES,
      pass({ name }, request) {
        sent.push({ server: name, method: request.method, params: request.params });
        const answer = servers[name]?.answers(request);
        return answer === undefined ? Promise.withResolvers<JsonObject>().promise : Promise.resolve(answer);
      },
    },
    changes: [],
    access: new ToolAccess({ allow: ['*'], deny, read_only: false, projects: {} }),
    auditLog: { append: async () => {} },
    liveSessions: { idFor: () => 's' },
    clock: systemClock,
    timer: {
      after(_ms, wake) {
        waits.add(wake);
        return () => waits.delete(wake);
      },
    },
  });
  const heard: McpMessage[] = [];
  const questions: McpMessage[] = [];
  const requestOf = (method: string, params: JsonObject): PassedRequest => ({
    method,
    params,
    signal: new AbortController().signal,
    notify: (message) => void heard.push(message),
    client: {
      key: '',
      isLegacy: false,
      capabilities: {},
      async ask(message) {
        questions.push(message);
        return {};
      },
      notify: (message) => void heard.push(message),
    },
  });
  const caller = { principal: { door: 'mcp', client: 'cli' }, project: PROJECT, sessionHint: '' } as const;
  return {
    servers,
    sent,
    heard,
    questions,
    late() {
      for (const wake of waits) wake();
    },
    ask: (method: string, params: JsonObject = {}) => requests.request(caller, requestOf(method, params)),
    async call(server: string, params: JsonObject): Promise<PassedCall['answer']> {
      const passed: PassedCall = { request: requestOf('tools/call', { name: 'do', ...params }) };
      const [definition] = definitionsOf('tool', { name: 'do', inputSchema: { type: 'object' } });
      await requests
        .call(
          {
            session: { project: PROJECT, session: 's', branch: null },
            input: {},
            signal: passed.request.signal,
            timeoutMs: 1_000,
          },
          {
            id: `${server}:do`,
            server,
            upstreamName: 'do',
            definition: JSON.parse(definition?.text ?? ''),
            files: 'none',
          },
          passed,
        )
        .catch(() => {});
      return passed.answer;
    },
  };
}
