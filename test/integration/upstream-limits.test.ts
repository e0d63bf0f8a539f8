import { afterEach, describe, expect, it } from 'vitest';
import { MESSAGE_BOUNDS } from '#src/upstream/line-transport.js';
import { AskedClient, passTo } from '../helpers/passed-requests.ts';

let at: ReturnType<typeof passTo> | undefined;
afterEach(() => at?.remove());

const text = 'x'.repeat(5 * 1024 * 1024);

describe('arguments of 5 MB for a tool of an MCP server', () => {
  it('issue 34: are refused with the limit, reach no server, and the next call is answered by the same process', async () => {
    at = passTo('ok', true);
    const client = new AskedClient({ key: 'a', isLegacy: true });
    const { signal } = new AbortController();
    await expect(at.pass(client.calls('echo', signal, { text }))).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      details: { limit: MESSAGE_BOUNDS.sentBytes },
    });
    const definition = { name: 'echo', inputSchema: { type: 'object' as const } };
    const call = (args: object) =>
      at?.server.call({ definition, upstreamName: 'echo', args: { ...args }, signal, timeoutMs: 20_000 }, () => {});
    await expect(call({ text })).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(await call({ text: 'next' })).toMatchObject({ content: [{ text: 'next' }] });
    expect(at.started).toHaveLength(1);
  });
});
