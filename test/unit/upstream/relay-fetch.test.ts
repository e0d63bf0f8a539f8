import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ContextdError } from '#src/core/errors.js';
import { LastLines } from '#src/upstream/last-lines.js';
import { RelayFetch } from '#src/upstream/relay-fetch.js';
import { propertyRuns } from '../../helpers/property-runs.ts';

const CHUNK_BYTES = 256 * 1024;
const MIB = 1024 * 1024;
const URL = 'https://mcp.example.com/mcp';

/** A relay whose lines a test says. A listener that throws throws here. */
function relayed() {
  const breaches: ContextdError[] = [];
  const stdout = new PassThrough();
  const streams = { stdout, stderr: new PassThrough(), input: async () => {} };
  // Time stands still: nothing is allowed again.
  const clock = { monotonic: () => 0 };
  const relay = new RelayFetch(streams, {
    server: 'far',
    lastLines: new LastLines(),
    clock,
    onBreach: (fault) => void breaches.push(fault),
  });
  const say = (message: object) => stdout.emit('data', Buffer.from(`${JSON.stringify({ id: 1, ...message })}\n`));
  const answer = relay.fetch(URL);
  answer.catch(() => {});
  return { breaches, say, answer, relay };
}

/** A stream of events of the server, as the relay passes it on. */
function open() {
  const { breaches, say, relay } = relayed();
  say({ status: 200, headers: [['content-type', 'text/event-stream']] });
  return {
    breaches,
    post: (body: object) => void relay.fetch(URL, { method: 'POST', body: JSON.stringify(body) }).catch(() => {}),
    /** Sends text again and again, in parts that end anywhere. */
    send(text: string, bytes: number) {
      const whole = Buffer.from(text.repeat(Math.ceil(bytes / text.length)));
      for (let at = 0; at < whole.length; at += CHUNK_BYTES - 1)
        say({ chunk: whole.subarray(at, at + CHUNK_BYTES - 1).toString('base64') });
    },
  };
}

const LINE = `data: ${'x'.repeat(100)}`;
const LONG_LINE = `data: ${'x'.repeat(10_000)}`;

it.each([
  ['lines', `${LINE}\n`],
  ['lines of another system', `${LINE}\r\n`],
  ['one line', 'x'],
])('issue 34: an event of %s that does not end is refused at 16 MiB', (_what, text) => {
  const { breaches, send } = open();
  send(text, 15 * MIB);
  expect(breaches).toEqual([]);
  send(text, 2 * MIB);
  expect(breaches[0]?.message).toBe('the MCP server far sent a message of more than 16777216 bytes');
});

it.each([
  ['\n', `${LONG_LINE}\n\n`],
  ['\r\n', `${LONG_LINE}\r\n\r\n`],
  ['\r', `${LONG_LINE}\r\r`],
])('issue 34: events that end with %j may be more than 16 MiB together', (_end, text) => {
  const { breaches, send } = open();
  send(text, 18 * MIB);
  expect(breaches).toEqual([]);
});

const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const EVENT = `data: ${CHANGED}\n\n`;
const ANSWER = 'data: {"jsonrpc":"2.0","id":7,"result":{}}\n\n';
const TOO_MUCH = 'the MCP server far sends too much that nothing asked for';

it('decision 0131: the 10,001st event at once stops the server', () => {
  const { breaches, send } = open();
  send(EVENT, 10_000 * EVENT.length);
  expect(breaches).toEqual([]);
  send(EVENT, EVENT.length);
  expect(breaches[0]?.message).toBe(TOO_MUCH);
});

it('decision 0131: each request allows one more event, and an answer to the server allows none', () => {
  const { breaches, post, send } = open();
  send(EVENT, 10_000 * EVENT.length);
  for (let id = 0; id < 100; id++) {
    post({ jsonrpc: '2.0', id, method: 'tools/call' });
    send(ANSWER, ANSWER.length);
  }
  expect(breaches).toEqual([]);
  post({ jsonrpc: '2.0', id: 0, result: {} });
  post({ jsonrpc: '2.0', method: 'notifications/cancelled' });
  send(ANSWER, ANSWER.length);
  expect(breaches[0]?.message).toBe(TOO_MUCH);
});

it.each([
  ['a body', 'application/json', ''],
  ['an event', 'text/event-stream', 'data: '],
])(
  'decision 0131: each message of a batch in %s counts, and too many do not reach the SDK',
  async (_what, type, before) => {
    const got = async (count: number): Promise<string | null> => {
      const { answer, say } = relayed();
      say({ status: 200, headers: [['content-type', type]] });
      const body = (await answer).text().catch(() => null);
      const text = `${before}[${Array(count).fill(CHANGED).join(',')}]\n\n`;
      for (let at = 0; at < text.length; at += CHUNK_BYTES)
        say({ chunk: Buffer.from(text.slice(at, at + CHUNK_BYTES)).toString('base64') });
      say({});
      return body;
    };
    expect(await got(10_000)).toContain(CHANGED);
    expect(await got(10_001)).toBeNull();
  },
);

it.each([0, 100, 199, 600, 999])('issue 34: the status %i fails the request, and nothing else', async (status) => {
  const { answer, say, breaches } = relayed();
  say({ status, headers: [] });
  await expect(answer).rejects.toThrow(`the server answered with the status ${status}`);
  expect(breaches).toEqual([]);
});

it('issue 34: no answer of a server throws into the daemon', () => {
  const header = fc.oneof(fc.tuple(fc.string(), fc.string()), fc.jsonValue());
  const message = fc.record(
    {
      status: fc.oneof(fc.integer(), fc.double()),
      headers: fc.oneof(fc.array(header), fc.jsonValue()),
      chunk: fc.string(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), (messages) => {
      const { say } = relayed();
      for (const one of messages) say(one);
    }),
  );
});

/** Nested as deeply as asked, with strings around that look like levels. */
const nested = (depth: number): string => `{"a":"]}\\"[","b":${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}}`;
const ENDS = ['\n', '\r\n', '\r'] as const;

/** What the SDK gets of a body that comes in parts of this size; null if the server was stopped first. */
async function received(type: string, text: string, bytes: number): Promise<string | null> {
  const { answer, say, breaches } = relayed();
  say({ status: 200, headers: [['content-type', type]] });
  const body = (await answer).text().catch(() => null);
  const whole = Buffer.from(text);
  for (let at = 0; at < whole.length; at += bytes) say({ chunk: whole.subarray(at, at + bytes).toString('base64') });
  say({});
  const got = await body;
  expect(breaches.map(({ message }) => message)).toEqual(
    got === null ? ['the MCP server far sent a message that is nested deeper than 200'] : [],
  );
  return got;
}

it('decision 0124: a body or an event that is nested deeper than 200 stops the server before the SDK gets it, however it is cut', async () => {
  const depth = fc.constantFrom(1, 199, 200, 201, 1_000, 100_000);
  const event = fc.record({ depth, isSplit: fc.boolean(), hasMark: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...ENDS),
      fc.integer({ min: 1, max: 40 }),
      async (events, end, parts) => {
        const text = events
          .map(({ depth: levels, isSplit, hasMark }) => {
            const data = isSplit ? nested(levels).replace(',"b"', `,${end}data:"b"`) : nested(levels);
            return `${hasMark ? `: [[[ "${end}id: {"${end}` : ''}data: ${data}${end}${end}`;
          })
          .join('');
        const isDeep = events.some(({ depth: levels }) => levels > 200);
        expect(await received('text/event-stream', text, Math.ceil(text.length / parts))).toBe(isDeep ? null : text);
        const levels = events[0]?.depth ?? 1;
        const body = nested(levels);
        expect(await received('application/json', body, Math.ceil(body.length / parts))).toBe(
          levels > 200 ? null : body,
        );
      },
    ),
    { numRuns: propertyRuns('slow') },
  );
});

it('decision 0124: a page of an error is not JSON, however many brackets it has', async () => {
  const page = `<style>${'{['.repeat(500)}</style>`;
  expect(await received('text/html', page, 100)).toBe(page);
});
