import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemClock, systemTimer } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { UpstreamServer } from '#src/upstream/server.js';
import type { ServerProcess } from '#src/upstream/start-server.js';
import { propertyRuns } from '../../helpers/property-runs.ts';

const METHODS = [
  'notifications/progress',
  'notifications/cancelled',
  'notifications/tools/list_changed',
  'notifications/message',
  'notifications/subscriptions/acknowledged',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'ping',
  'tools/list',
  'no/such',
  '',
];
const value = fc.jsonValue({ maxDepth: 3 });
const id = fc.oneof(
  fc.nat(5),
  fc.constant(null),
  fc.string({ maxLength: 3 }),
  fc.constant('server-discover-probe-1'),
  value,
);

/** Anything that looks like a message of the protocol, and anything that does not. */
const line = fc.oneof(
  fc.record({ result: value }),
  fc.record({ jsonrpc: fc.constant('2.0'), id, result: value }, { requiredKeys: [] }),
  fc.record({
    jsonrpc: fc.constant('2.0'),
    id,
    error: fc.oneof(value, fc.record({ code: fc.integer(), message: fc.string() })),
  }),
  fc.record(
    { jsonrpc: fc.constant('2.0'), id, method: fc.constantFrom(...METHODS), params: value },
    { requiredKeys: ['jsonrpc', 'method'] },
  ),
  fc.array(value, { maxLength: 3 }),
  value,
);

/** What a server answers to a request: what it should, or anything. */
const answers = fc.record(
  {
    'server/discover': value,
    initialize: fc.oneof(value, fc.record({ protocolVersion: value, capabilities: value, serverInfo: value })),
    'tools/list': fc.oneof(value, fc.record({ tools: fc.array(value, { maxLength: 3 }), nextCursor: value })),
    'tools/call': fc.oneof(value, fc.record({ content: fc.array(value, { maxLength: 3 }), isError: value })),
  },
  { requiredKeys: [] },
);

const SANE: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'x', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'x' }] },
};

/** A process in this one: it answers each request after a line of its own. */
function peer(lines: readonly unknown[], own: Readonly<Record<string, unknown>>): ServerProcess {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const { promise: exited, resolve } = Promise.withResolvers<{ code: number; signal: null }>();
  const queue = [...lines];
  const say = (message: unknown): void => void stdout.write(`${JSON.stringify(message)}\n`);
  return {
    stdout,
    stderr,
    stale: new Promise(() => {}),
    exited,
    async input(data) {
      const request = JSON.parse(data.toString()) as { id?: unknown; method: string };
      if (queue.length > 0) say(queue.shift());
      if (request.id === undefined) return;
      const result = own[request.method] ?? SANE[request.method];
      const { id: asked } = request;
      if (result === undefined) say({ jsonrpc: '2.0', id: asked, error: { code: -32601, message: 'no' } });
      else say({ jsonrpc: '2.0', id: asked, result });
    },
    async kill() {
      stdout.end();
      stderr.end();
      resolve({ code: 0, signal: null });
    },
  };
}

describe('issue 34 whatever an MCP server says', () => {
  it('issue 34 a call ends with a result or with an error of the table, and nothing is left that fails later', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 6 }), answers, async (lines, own) => {
        const server = new UpstreamServer({
          name: 'demo',
          url: null,
          version: '1',
          idleMs: 60_000,
          probeMs: 100,
          start: async () => peer(lines, own),
          onTools: async () => {},
          clock: systemClock,
          timer: systemTimer,
          logger: silentLogger,
        });
        const definition = { name: 'echo', inputSchema: { type: 'object' as const } };
        const { signal } = new AbortController();
        const request = { definition, upstreamName: 'echo', args: {}, signal, timeoutMs: 400 };
        const ended = await server.call(request, () => {}).catch((thrown: unknown) => thrown);
        if (ended instanceof Error) {
          expect(ended).toBeInstanceOf(ContextdError);
          expect((ended as ContextdError).code).toMatch(/^UPSTREAM_/);
          expect(ended.message).not.toMatch(/\n/);
        } else expect(ended).toHaveProperty('content');
        await server.stop();
      }),
      { numRuns: propertyRuns('door') },
    );
  });
});
