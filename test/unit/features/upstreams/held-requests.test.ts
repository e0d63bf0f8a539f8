import { expect, it } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import type { PassedRequest } from '#src/core/passing.js';
import { HeldRequests } from '#src/features/upstreams/held-requests.js';
import type { StoredServer } from '#src/stores/upstream-servers.js';
import { HandTime } from '../../../helpers/composed-daemon.ts';

const server: StoredServer = {
  project: '/home/ann/shop',
  name: 'demo',
  spec: { command: ['demo'], url: '', usesCredential: false, hosts: [], paths: [], project: 'none' },
  variables: {},
  addedMs: 0,
  givenBy: 'ann',
  accepted: null,
  seen: [],
};

function requestOf(key: string, left?: AbortSignal): PassedRequest {
  return {
    method: 'tools/call',
    params: { name: 'echo' },
    signal: new AbortController().signal,
    notify() {},
    client: {
      key,
      isLegacy: false,
      capabilities: { elicitation: {} },
      ask: async () => ({}),
      notify() {},
      ...(left === undefined ? {} : { left }),
    },
  };
}

/** Holds a request whose server asks the client. */
async function heldFor(held: HeldRequests, key: string, left?: AbortSignal) {
  let signal = new AbortController().signal;
  const answered = Promise.withResolvers<JsonObject>();
  answered.promise.catch(() => {});
  const result = await held.start(server, requestOf(key, left), (request) => {
    ({ signal } = request);
    request.client.ask({ method: 'elicitation/create', params: {} }, signal).then(answered.resolve, answered.reject);
    return new Promise(() => {});
  });
  return { result, isCancelled: () => signal.aborted, answered: answered.promise };
}

it('issue 34: when a client ends, the requests that are held for it are cancelled, and no others', async () => {
  const held = new HeldRequests({ after: () => () => {} });
  const [ended, other] = [await heldFor(held, 'ended'), await heldFor(held, 'other')];
  expect(ended.result).toMatchObject({ resultType: 'input_required' });
  held.closeClient('/home/ann/elsewhere', 'ended');
  expect(ended.isCancelled()).toBe(false);
  held.closeClient(server.project, 'ended');
  await expect(ended.answered).rejects.toThrow('the request that the question belonged to has ended');
  expect([ended.isCancelled(), other.isCancelled()]).toEqual([true, false]);
  const { requestState = null } = other.result;
  const [key = ''] = Object.keys(other.result.inputRequests as JsonObject);
  const again = requestOf('other');
  const params = { ...again.params, requestState, inputResponses: { [key]: { action: 'accept' } } };
  void held.resume(server, { ...again, params });
  expect(await other.answered).toEqual({ action: 'accept' });
  held.stop();
});

it('decision 0124: a request is held for a minute after the connection of its client closed, and its questions are dropped then', async () => {
  const time = new HandTime();
  const held = new HeldRequests(time.timer);
  const closing = new AbortController();
  const [gone, other] = [await heldFor(held, '', closing.signal), await heldFor(held, '')];
  expect([time.waits(600_000), time.waits(60_000)]).toEqual([2, 0]);
  closing.abort();
  expect([time.waits(600_000), time.waits(60_000)]).toEqual([1, 1]);
  time.wake(60_000, 0);
  await expect(gone.answered).rejects.toThrow('the request that the question belonged to has ended');
  expect([gone.isCancelled(), other.isCancelled()]).toEqual([true, false]);
  held.stop();
});

it('decision 0124: a client that comes back on another connection within the minute gets its answer', async () => {
  const time = new HandTime();
  const held = new HeldRequests(time.timer);
  const closing = new AbortController();
  const back = await heldFor(held, '', closing.signal);
  closing.abort();
  const { requestState = null } = back.result;
  const [key = ''] = Object.keys(back.result.inputRequests as JsonObject);
  const again = requestOf('');
  void held.resume(server, { ...again, params: { ...again.params, requestState, inputResponses: { [key]: {} } } });
  expect(await back.answered).toEqual({});
  time.wake(600_000, 0);
  expect(back.isCancelled()).toBe(false);
  held.stop();
});
