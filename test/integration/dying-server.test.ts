import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { ERROR_TABLE } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import { UpstreamServer } from '#src/upstream/server.js';
import { startScripted } from '../helpers/scripted-server.ts';

type Plain = ReturnType<typeof startScripted>;

const started: Plain[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.kill()));
});

/** What happens to the process around the write of a call. */
interface Moments {
  before?(process: Plain): Promise<void>;
  after?(process: Plain): Promise<void>;
}

function open(mode: string, moments: Moments = {}) {
  const server = new UpstreamServer({
    name: 'demo',
    url: null,
    version: '1',
    idleMs: 600_000,
    graceMs: 500,
    async start() {
      const process = startScripted(started.length === 0 ? mode : 'ok');
      started.push(process);
      return {
        ...process,
        async input(data, isEnd) {
          const isCall = data.includes('"tools/call"');
          if (isCall) await moments.before?.(process);
          await process.input(data, isEnd);
          if (isCall) await moments.after?.(process);
        },
      };
    },
    async onTools() {},
    clock: systemClock,
    timer: { after: () => () => {} },
    logger: silentLogger,
  });
  const limits = { signal: new AbortController().signal, timeoutMs: 20_000 };
  const request = {
    ...limits,
    definition: { name: 'echo', inputSchema: { type: 'object' as const } },
    upstreamName: 'echo',
    args: { text: 'x' },
  };
  return {
    server,
    call: () => server.call(request, () => {}),
    read: () => server.use(limits, (session, timeoutMs) => session.callTool({ ...request, timeoutMs })),
  };
}

const said = (text: string) => ({ content: [{ type: 'text', text }] });
const dies = (process: Plain) => process.kill();

describe('issue 34 a call that meets a dying MCP server', () => {
  it('issue 34 is made once more, on the next process, if the process was dead before the call was written', async () => {
    const { server, call } = open('ok', {
      before: async (process) => void (process === started[0] && (await dies(process))),
    });
    expect(await call()).toMatchObject(said('x'));
    expect([started.length, server.state, server.lastError]).toEqual([2, 'running', '']);
    await server.stop();
  });

  it('issue 34 is made once more if the process still runs, but had closed its stdin', async () => {
    const { server, call } = open('stops reading');
    expect(await call()).toMatchObject(said('deaf'));
    expect(await call()).toMatchObject(said('x'));
    expect(started).toHaveLength(2);
    expect(await started[0]?.exited).toMatchObject({ signal: 'SIGKILL' });
    await server.stop();
  });

  it('issue 34 is not made a third time', async () => {
    const { server, call } = open('ok', { before: dies });
    await expect(call()).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: 'the MCP server demo closed its connection',
    });
    expect(started).toHaveLength(2);
    await server.stop();
  });

  const lost: Record<string, [mode: string, moments: Moments]> = {
    'read it and died': ['crashes', {}],
    'was killed with the call unread in its pipe': [
      'ok',
      { before: async ({ pid }) => void process.kill(pid, 'SIGSTOP'), after: dies },
    ],
  };
  for (const [what, [mode, moments]] of Object.entries(lost)) {
    it(`issue 34 is never repeated if the server ${what}, and says that it is not to be tried again`, async () => {
      const { server, call } = open(mode, moments);
      await expect(call()).rejects.toMatchObject({
        code: 'INTERRUPTED',
        message: expect.stringMatching(/^the call may or may not have run: the MCP server demo /),
        details: { server: 'demo' },
      });
      expect(ERROR_TABLE.INTERRUPTED.retryable).toBe(false);
      expect(started).toHaveLength(1);
      await server.stop();
    });

    it(`issue 34 may be tried again if it only reads and the server ${what}`, async () => {
      const { server, read } = open(mode, moments);
      await expect(read()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
      expect(ERROR_TABLE.UPSTREAM_UNAVAILABLE.retryable).toBe(true);
      expect(started).toHaveLength(1);
      await server.stop();
    });
  }
});
