import { afterEach, describe, expect, it } from 'vitest';
import type { PassingRequests } from '#src/call/passing.js';
import { McpError, type McpMessage } from '#src/core/passing.js';
import { CallDoor, type PassedEvent__Output as PassedEvent } from '#src/protocol/generated/tool.js';
import { echo } from '../helpers/behind.ts';
import { answered, type Clients, openDoor, type TestDoor } from '../helpers/door.ts';

let at: TestDoor | undefined;
afterEach(() => at?.remove());

const CONTEXT = { project_root: '/p', protocol_version: 2, door: CallDoor.CALL_DOOR_MCP };
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const request = (client: string, method: string, params: object = {}) => ({
  context: CONTEXT,
  client,
  is_legacy: true,
  capabilities_json: json({ roots: {} }),
  message_json: json({ method, params }),
});

interface EventStream extends AsyncIterable<PassedEvent> {
  cancel(): void;
}

async function open(passing: Partial<PassingRequests>): Promise<Clients> {
  const request = async (): Promise<never> => {
    throw new McpError(-32_601, 'no such method');
  };
  const whole = { request, closeClient: async () => {}, follow: () => () => {}, ...passing };
  at = await openDoor({ dispatch: async (call) => echo(call), passing: whole });
  return at.clients('proxy');
}

/** The events of a stream, one by one. */
function eventsOf(stream: EventStream): { next(): Promise<PassedEvent>; cancel(): void } {
  const events = stream[Symbol.asyncIterator]();
  return {
    async next() {
      const { value } = await events.next();
      return value;
    },
    cancel: () => stream.cancel(),
  };
}

async function follow({ tools }: Clients) {
  const events = eventsOf(tools.FollowServers({ context: CONTEXT }));
  const { client = '' } = await events.next();
  return { client, events };
}

describe('the rpcs of the bridge of an MCP client', () => {
  it('issue 34: what servers keep for a client ends with its call of FollowServers', async () => {
    const ended = Promise.withResolvers<unknown>();
    const followed: ((message: McpMessage) => void)[] = [];
    const clients = await open({
      closeClient: async (...given) => ended.resolve(given),
      follow(_project, listener) {
        followed.push(listener);
        return () => followed.splice(0);
      },
    });
    const { client, events } = await follow(clients);
    const notice = { method: 'notifications/prompts/list_changed', params: {} };
    followed[0]?.(notice);
    expect(await events.next()).toMatchObject({ notice_json: json(notice) });
    events.cancel();
    expect(await ended.promise).toEqual(['/p', client]);
    expect(followed).toEqual([]);
    const unknown = eventsOf(clients.tools.Pass(request(client, 'resources/list')));
    expect(await unknown.next()).toMatchObject({ is_unknown_client: true });
  });

  it('issue 34: a client is known in its own project only', async () => {
    const clients = await open({ request: async () => ({ resources: [] }) });
    const { client } = await follow(clients);
    const own = eventsOf(clients.tools.Pass(request(client, 'resources/list')));
    expect(await own.next()).toMatchObject({ result_json: json({ resources: [] }) });
    const context = { ...CONTEXT, project_root: '/other' };
    const other = eventsOf(clients.tools.Pass({ ...request(client, 'resources/list'), context }));
    expect(await other.next()).toMatchObject({ is_unknown_client: true });
  });

  it('issue 34: a question goes to the client, and its answer or its refusal back', async () => {
    const clients = await open({
      async request(_caller, { client, signal }) {
        const first = await client.ask({ method: 'roots/list', params: {} }, signal);
        const second = await client.ask({ method: 'roots/list', params: {} }, signal).catch(({ code }) => code);
        return { first, second };
      },
    });
    const { client } = await follow(clients);
    const events = eventsOf(clients.tools.Pass(request(client, 'prompts/get')));
    const answer = (id: string, given: { result_json: Buffer } | { error_json: Buffer }) =>
      answered((done) => clients.tools.AnswerQuestion({ context: CONTEXT, id, ...given }, done));
    await answer('unknown', { result_json: json({}) });
    for (const given of [{ result_json: json({ roots: [] }) }, { error_json: json({ code: -1, message: 'no' }) }]) {
      const { question } = await events.next();
      expect(question?.message_json).toEqual(json({ method: 'roots/list', params: {} }));
      await answer(question?.id ?? '', given);
    }
    expect(await events.next()).toMatchObject({ result_json: json({ first: { roots: [] }, second: -1 }) });
  });

  it('issue 34: of the progress that a slow client misses it gets the newest, before the result', async () => {
    const steps = 1_000;
    const clients = await open({
      async request(_caller, { notify }) {
        for (let progress = 1; progress <= steps; progress++)
          notify({ method: 'notifications/progress', params: { progress } });
        return { done: true };
      },
    });
    const { client } = await follow(clients);
    const events = eventsOf(clients.tools.Pass(request(client, 'prompts/get')));
    const seen: unknown[] = [];
    for (let event = await events.next(); event.notice_json !== undefined; event = await events.next())
      seen.push(JSON.parse(event.notice_json.toString()).params.progress);
    expect(seen.length).toBeLessThan(steps);
    expect(seen.at(-1)).toBe(steps);
  });

  it('issue 34: a question is withdrawn when its request ends without the answer', async () => {
    const clients = await open({
      async request(_caller, { client, signal }) {
        void client.ask({ method: 'roots/list', params: {} }, signal).catch(() => {});
        return { done: true };
      },
    });
    const { client } = await follow(clients);
    const events = eventsOf(clients.tools.Pass(request(client, 'prompts/get')));
    const { question } = await events.next();
    expect(await events.next()).toMatchObject({ withdrawn: question?.id });
    expect(await events.next()).toMatchObject({ result_json: json({ done: true }) });
  });

  it('issue 34: errors of the protocol are answers, and what cannot be read is ARGS_INVALID', async () => {
    const clients = await open({});
    const { client } = await follow(clients);
    const refused = eventsOf(clients.tools.Pass(request(client, 'prompts/get')));
    expect(await refused.next()).toMatchObject({ error_json: json({ code: -32_601, message: 'no such method' }) });
    const unreadable = { ...request(client, ''), message_json: json({ params: {} }) };
    await expect(eventsOf(clients.tools.Pass(unreadable)).next()).rejects.toThrow('cannot pass on a message without');
  });
});
