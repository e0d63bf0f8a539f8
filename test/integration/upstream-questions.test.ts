import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import type { PassedRequest } from '#src/core/passing.js';
import { AskedClient, passTo } from '../helpers/passed-requests.ts';

let at: ReturnType<typeof passTo> | undefined;
afterEach(() => at?.remove());

const eventually = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

/** What the server got as the answer to its question. */
function answerIn(result: JsonObject): unknown {
  const [block] = result.content as { text: string }[];
  return JSON.parse(block?.text ?? '');
}

const refusedBecause = (why: string) => ({ code: -32_600, message: `no client can be asked now: ${why}` });
const SEVERAL = refusedBecause('several requests are under way, and a question does not say which of them it is for');
const GIVEN_UP = refusedBecause('it may be for an earlier request, which was cancelled or took too long');

/** Passes on a call that the server does not answer. */
function begun({ pass }: ReturnType<typeof passTo>, request: PassedRequest, timeoutMs?: number) {
  const passed = pass(request, timeoutMs);
  passed.catch(() => {});
  return passed;
}

/** Its call is answered with what the server got for its question. */
async function answered({ pass }: ReturnType<typeof passTo>, client: AskedClient): Promise<unknown> {
  const before = client.asked.length;
  const passed = pass(client.calls('echo'));
  await Promise.race([client.wasAsked(before + 1), passed]);
  client.asked[before]?.answer({ action: 'decline' });
  return answerIn(await passed);
}

describe('questions of a server of an older revision', () => {
  it('issue 34: a question goes to the only client with a call under way, and so does a line of the log', async () => {
    at = passTo('asks', false);
    const client = new AskedClient();
    const passed = at.pass(client.calls('echo'));
    await client.wasAsked();
    client.asked[0]?.answer({ action: 'accept', content: { name: 'Ann' } });
    expect(answerIn(await passed)).toEqual({ action: 'accept', content: { name: 'Ann' } });
    expect(client.heard).toMatchObject([{ method: 'notifications/message', params: { data: 'echo' } }]);
  });

  const abandoned: [string, (running: ReturnType<typeof passTo>, client: AskedClient) => Promise<void>][] = [
    [
      'was cancelled',
      async (running, client) => {
        const ending = new AbortController();
        const passed = begun(running, client.calls('fail', ending.signal));
        await eventually(() => expect(running.server.lastLines).toEqual(['fail']));
        ending.abort();
        await expect(passed).rejects.toMatchObject({ code: 'CANCELLED' });
      },
    ],
    [
      'took too long',
      async (running, client) => {
        await expect(begun(running, client.calls('fail'), 1)).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
      },
    ],
  ];
  for (const [how, abandon] of abandoned)
    it(`issue 34: a question that may be for a call that ${how} goes to no other client, and the next call can be asked`, async () => {
      at = passTo('asks', false);
      const [gone, other] = [new AskedClient(), new AskedClient()];
      await at.server.wake();
      await abandon(at, gone);
      expect(await answered(at, other)).toMatchObject(GIVEN_UP);
      expect([gone.asked, other.asked, other.heard]).toEqual([[], [], []]);
      expect(await answered(at, other)).toEqual({ action: 'decline' });
      expect(at.started).toHaveLength(2);
    });

  it('issue 34: a question is refused while calls of two clients are under way, and the next call is asked elsewhere', async () => {
    at = passTo('asks', false);
    const [first, second] = [new AskedClient(), new AskedClient()];
    void begun(at, first.calls('fail'));
    await eventually(() => expect(at?.server.lastLines).toEqual(['fail']));
    expect(await answered(at, second)).toMatchObject(SEVERAL);
    expect(await answered(at, second)).toEqual({ action: 'decline' });
    expect([first.asked, at.started.length]).toEqual([[], 2]);
  });

  it('issue 34: in the session of one client a question goes to it, whichever of its calls it is for', async () => {
    at = passTo('asks', true);
    const client = new AskedClient({ key: 's', isLegacy: true });
    void begun(at, client.calls('fail'));
    await eventually(() => expect(at?.server.lastLines).toEqual(['fail']));
    expect(await answered(at, client)).toEqual({ action: 'decline' });
  });

  it('issue 34: after a call was cancelled while its client was asked, the next question goes to the next client', async () => {
    at = passTo('asks', false);
    const [gone, other] = [new AskedClient(), new AskedClient()];
    const ending = new AbortController();
    const passed = at.pass(gone.calls('echo', ending.signal));
    await gone.wasAsked();
    ending.abort();
    await expect(passed).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(await answered(at, other)).toEqual({ action: 'decline' });
    expect(at.started).toHaveLength(2);
  });

  const turnedAway: [string, unknown][] = [
    ['elicitation/create', { action: 'cancel' }],
    ['sampling/createMessage', { code: -1, message: 'the request that the question belonged to has ended' }],
  ];
  for (const [method, answer] of turnedAway)
    it(`issue 34: when a call is cancelled, the server gets an answer to its ${method} at once, and the client loses the question`, async () => {
      at = passTo('asks', true);
      const client = new AskedClient({ key: 's', isLegacy: true });
      const ending = new AbortController();
      const passed = at.pass(client.calls('fail ask', ending.signal, { text: method }));
      await client.wasAsked();
      ending.abort();
      await expect(passed).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(client.asked[0]?.signal.aborted).toBe(true);
      await eventually(() => expect(at?.server.lastLines.at(-1)).toBe(`answer ${JSON.stringify(answer)}`));
    });

  it('issue 34: the client gets 64 questions of a server at once, and more are refused', async () => {
    at = passTo('asks without end', true);
    const client = new AskedClient({ key: 's', isLegacy: true });
    expect(await at.pass(client.calls('echo'))).toMatchObject({
      content: [{ text: '36 refused: 64 questions to the client are open already; none more is asked' }],
    });
    expect(client.asked).toHaveLength(64);
  });
});
