import { expect, it } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import type { PassedRequest } from '#src/core/passing.js';
import { HeldRequests } from '#src/features/upstreams/held-requests.js';
import type { StoredServer } from '#src/stores/upstream-servers.js';

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

function requestOf(key: string): PassedRequest {
  return {
    method: 'tools/call',
    params: { name: 'echo' },
    signal: new AbortController().signal,
    notify() {},
    client: { key, isLegacy: false, capabilities: { elicitation: {} }, ask: async () => ({}), notify() {} },
  };
}

/** Holds a request whose server asks the client. */
async function heldFor(held: HeldRequests, key: string) {
  let signal = new AbortController().signal;
  const answered = Promise.withResolvers<JsonObject>();
  answered.promise.catch(() => {});
  const result = await held.start(server, requestOf(key), (request) => {
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
