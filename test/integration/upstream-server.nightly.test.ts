import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { ContextdError } from '#src/core/errors.js';
import { silentLogger } from '#src/core/log.js';
import type { SeenTools } from '#src/upstream/definitions.js';
import { UpstreamServer } from '#src/upstream/server.js';
import type { ServerProcess } from '#src/upstream/start-server.js';
import { startScripted } from '../helpers/scripted-server.ts';

const IDLE_MS = 600_000;
const HEARTBEAT_MS = 30_000;
const started: ServerProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.kill()));
});

/** A server whose time a test turns by hand. */
function open(mode: string, { stale = [] }: { stale?: Promise<void>[] } = {}) {
  let own = mode;
  let aheadMs = 0;
  const wakes = new Map<() => void, number>();
  const lists: SeenTools[] = [];
  const starts: string[] = [];
  let onList = (): void => {};
  const server = new UpstreamServer({
    name: 'demo',
    url: null,
    version: '1',
    idleMs: IDLE_MS,
    pingMs: 500,
    // A server that ends at the probe must have started before the probe counts as unanswered.
    probeMs: mode === 'ends at a probe' ? 60_000 : 500,
    graceMs: 500,
    async start() {
      starts.push(own);
      const process = startScripted(own, stale[starts.length - 1]);
      started.push(process);
      return process;
    },
    async onTools(seen) {
      lists.push(seen);
      onList();
    },
    clock: { now: systemClock.now, monotonic: () => systemClock.monotonic() + aheadMs },
    timer: {
      after(ms, wake) {
        wakes.set(wake, ms);
        return () => wakes.delete(wake);
      },
    },
    logger: silentLogger,
  });
  return {
    server,
    starts,
    become: (other: string) => (own = other),
    lists,
    names: () => lists.at(-1)?.tools.map(({ name }) => name),
    nextList: () => new Promise<void>((resolve) => (onList = resolve)),
    advance: (ms: number) => (aheadMs += ms),
    /** Milliseconds, apart from the times of an idle or a healthy server. */
    longestWait: () => Math.max(0, ...[...wakes.values()].filter((ms) => ms !== IDLE_MS && ms !== HEARTBEAT_MS)),
    /** Wakes what waits for exactly this long. */
    wake(ms: number) {
      for (const [wake, own] of [...wakes]) if (own === ms && wakes.delete(wake)) wake();
    },
    call: (name = 'echo', more: { text?: string; signal?: AbortSignal; timeoutMs?: number } = {}) =>
      server.call(
        {
          definition: { name, inputSchema: { type: 'object' } },
          upstreamName: name,
          args: more.text === undefined ? {} : { text: more.text },
          signal: more.signal ?? new AbortController().signal,
          timeoutMs: more.timeoutMs ?? 20_000,
        },
        () => {},
      ),
  };
}

const said = (text: string) => ({ content: [{ type: 'text', text }] });

describe('issue 34 an MCP server that behaves', () => {
  it('issue 34 starts with the first call, lists its tools before it is called, and serves many calls at once', async () => {
    const { server, starts, call, names } = open('ok');
    expect([server.state, starts]).toEqual(['stopped', []]);
    const answers = await Promise.all(['a', 'b', 'c'].map((text) => call('echo', { text })));
    expect(answers).toMatchObject(['a', 'b', 'c'].map(said));
    expect(starts).toEqual(['ok']);
    expect(names()).toEqual(['echo', 'fail', 'cancelled']);
    expect([server.state, server.protocol]).toEqual(['running', '2025-11-25']);
    await server.stop();
  });

  for (const mode of ['ends at a probe', 'ignores a probe', 'garbage'])
    it(`issue 34 speaks to an old server that ${mode}`, async () => {
      const { server, call } = open(mode);
      expect(await call('echo', { text: 'x' })).toMatchObject(said('x'));
      await server.stop();
    });

  it('issue 34 reads every page of its list', async () => {
    const { server, names } = open('pages');
    await server.wake();
    expect(names()).toEqual(['page_0', 'page_1', 'page_2']);
    await server.stop();
  });

  it('issue 34 is stopped when it is idle, and starts again at the next call', async () => {
    const { server, starts, call, wake } = open('ok');
    await call();
    wake(IDLE_MS);
    expect(server.state).toBe('stopped');
    await call();
    expect(starts).toHaveLength(2);
    await server.stop();
  });

  it('issue 34 ends by itself after its stdin is closed, when it is idle and when contextd stops', async () => {
    const { server, call, wake } = open('ok');
    await call();
    wake(IDLE_MS);
    expect(await started[0]?.exited).toEqual({ code: 0, signal: null });
    await call();
    await server.stop();
    expect(await started[1]?.exited).toEqual({ code: 0, signal: null });
  });

  it('issue 34 is killed if it does not end when its stdin is closed', async () => {
    const { server, call } = open('stays');
    await call();
    await server.stop();
    expect(await started[0]?.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('issue 34 is not stopped while a call is under way', async () => {
    const { server, call, wake } = open('hangs');
    await server.wake();
    const waiting = call('echo', { timeoutMs: 400 });
    // The call has the process when this one has it.
    await server.wake();
    wake(IDLE_MS);
    expect(server.state).toBe('running');
    await expect(waiting).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    await server.stop();
  });

  it('issue 34 gets the cancellation of a call', async () => {
    const { server, call } = open('hangs');
    const ending = new AbortController();
    await server.wake();
    const waiting = call('echo', { signal: ending.signal });
    // The call is sent within this turn of the loop.
    setImmediate(() => ending.abort());
    await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(JSON.stringify(await call('cancelled'))).toMatch(/\[\d+\]/);
    await server.stop();
  });

  it('issue 34 lists its tools again when it says that they changed', async () => {
    const { server, call, lists, nextList } = open('changes its list');
    await call();
    await nextList();
    expect(lists).toHaveLength(2);
    expect(lists[1]?.tools[0]?.text).toContain('something else');
    await server.stop();
  });

  it('issue 34 lists its tools ever more seldom if it always says that they changed, and at last once more', async () => {
    const { server, lists, longestWait, wake } = open('keeps changing');
    await server.wake();
    // Further changes wait for a timer that the test turns. A machine that reads slowly also rests between the first ones.
    await vi.waitFor(
      () => {
        if (longestWait() <= 4_000) wake(longestWait());
        expect(longestWait()).toBeGreaterThan(4_000);
      },
      { timeout: 20_000 },
    );
    expect(lists.length).toBeLessThanOrEqual(4);
    const before = lists.length;
    wake(longestWait());
    await vi.waitFor(() => expect(lists).toHaveLength(before + 1), { timeout: 20_000 });
    expect(lists.at(-1)?.tools[0]?.text).toContain(`Version ${before + 1}.`);
    await server.stop();
  });

  it('issue 34 gives new calls to a new process if its sandbox no longer protects what it should', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { server, starts, call } = open('ok', { stale: [promise] });
    await call();
    await call();
    expect(starts).toHaveLength(1);
    resolve();
    await promise;
    await call();
    expect(starts).toHaveLength(2);
    await started[0]?.exited;
    await server.stop();
  });
});

describe('issue 34 an MCP server that misbehaves', () => {
  const refused: readonly [mode: string, code: string, says: RegExp][] = [
    [
      'crashes',
      'INTERRUPTED',
      /^the call may or may not have run: .*(ended with status 1; it printed: "out of luck"|closed its)/,
    ],
    ['huge message', 'UPSTREAM_ERROR', /server demo sent a message of more than 16777216 bytes|closed/],
    ['no end of line', 'UPSTREAM_ERROR', /more than 16777216 bytes|closed/],
    ['deep message', 'UPSTREAM_ERROR', /nested deeper than 200|closed/],
    ['flood', 'UPSTREAM_ERROR', /too much that nothing asked for|closed/],
    ['no result', 'UPSTREAM_ERROR', /gave a result that breaks the protocol: "Invalid result/],
  ];
  for (const [mode, code, says] of refused)
    it(`issue 34 fails the call with ${code} if it answers with: ${mode}`, async () => {
      const { server, call } = open(mode);
      await expect(call()).rejects.toSatisfy((error: unknown) => {
        expect(error).toBeInstanceOf(ContextdError);
        const { message } = error as ContextdError;
        expect(message).toMatch(says);
        expect(code.split('|')).toContain((error as ContextdError).code);
        return true;
      });
      await server.stop();
    });

  it('issue 34 takes an answer of 8 MiB', async () => {
    const { server, call } = open('large message');
    const { content } = await call();
    expect(JSON.stringify(content).length).toBeGreaterThan(8 * 1024 * 1024);
    await server.stop();
  });

  for (const [mode, text] of [
    ['answers twice', 'first'],
    ['another id', 'right'],
  ] as const)
    it(`issue 34 takes the right answer of a server with: ${mode}`, async () => {
      const { server, call } = open(mode);
      expect(await call()).toMatchObject(said(text));
      expect(await call()).toMatchObject(said(text));
      await server.stop();
    });

  it('issue 34 shows an error of its protocol as one line that prints', async () => {
    const { server, call } = open('ok');
    await expect(call('fail')).rejects.toMatchObject({
      code: 'UPSTREAM_ERROR',
      message: 'the MCP server demo answered with an error: "no way at all"',
      details: { server: 'demo', rpc_code: -32000 },
    });
    expect(server.state).toBe('running');
    await server.stop();
  });

  it('issue 34 says how a server ended that does not start, and what it printed', async () => {
    const { server, call } = open('dead');
    await expect(call()).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: 'the MCP server demo ended with status 3; it printed: "cannot find the file that it needs"',
    });
    expect(server.lastLines.at(-1)).toBe('cannot find the file that it needs');
    expect(server.state).toBe('failing');
  });

  it('issue 34 keeps the last lines of standard error only', async () => {
    const { server } = open('noise');
    await server.wake();
    await server.stop();
    expect(server.lastLines.at(-1)).toBe('line 49');
    expect(server.lastLines).toHaveLength(20);
  });

  it('issue 34 leaves a server alone that keeps failing, longer each time, until a person starts it again', async () => {
    const { server, starts, call, advance, become } = open('dead');
    await expect(call()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await expect(call()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    const tried = starts.length;
    const resting = await call().catch((error: unknown) => error as ContextdError);
    expect(resting).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', message: expect.stringContaining('failed 2 times') });
    expect((resting as ContextdError).retryAfterMs).toBeGreaterThan(0);
    expect(starts).toHaveLength(tried);
    advance(600);
    await expect(call()).rejects.toMatchObject({ message: expect.stringContaining('ended with status 3') });
    const longer = await call().catch((error: unknown) => error as ContextdError);
    expect((longer as ContextdError).retryAfterMs).toBeGreaterThan(500);
    become('ok');
    await server.restart();
    expect(await call('echo', { text: 'back' })).toMatchObject(said('back'));
    expect([server.state, server.lastError]).toEqual(['running', '']);
    await server.stop();
  });

  it('issue 34 starts a server again after it was killed, at the next call', async () => {
    const { server, starts, call } = open('ok');
    await call();
    await started.at(-1)?.kill();
    expect(await call('echo', { text: 'again' })).toMatchObject(said('again'));
    expect(starts).toHaveLength(2);
    await server.stop();
  });

  it('issue 34 kills a server that answers no ping any more', async () => {
    const { server, call, wake } = open('ok');
    await call();
    const { pid } = started.at(-1) as ServerProcess & { pid: number };
    process.kill(pid, 'SIGSTOP');
    wake(HEARTBEAT_MS);
    await vi.waitFor(() => expect(server.state).toBe('failing'), { timeout: 20_000 });
    expect(server.lastError).toContain('answers nothing any more');
    await server.stop();
  }, 30_000);

  it('issue 34 keeps a server that is slow with a call and answers pings', async () => {
    const { server, starts, call } = open('hangs');
    await expect(call('echo', { timeoutMs: 300 })).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    await call('cancelled');
    expect(starts).toHaveLength(1);
    await server.stop();
  });

  it('issue 34 gives up waiting for a server that starts slowly, which goes on starting', async () => {
    const { server, call } = open('mute');
    await expect(call('echo', { timeoutMs: 300 })).rejects.toMatchObject({
      code: 'UPSTREAM_TIMEOUT',
      message: expect.stringContaining('did not start within'),
    });
    expect(server.state).toBe('starting');
    await server.stop();
  });

  it('issue 34 refuses arguments that are too large without harm to the server', async () => {
    const { server, call } = open('ok');
    await expect(call('echo', { text: 'x'.repeat(5_000_000) })).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
    expect(await call('echo', { text: 'small' })).toMatchObject(said('small'));
    await server.stop();
  });

  const leftOut: readonly [mode: string, names: number, why: RegExp][] = [
    ['many tools', 512, /more than 512 tools/],
    ['same names', 1, /another tool has the same name/],
    ['huge definition', 1, /131072 are allowed/],
    ['deep definition', 1, /nested deeper than 48/],
  ];
  for (const [mode, count, why] of leftOut)
    it(`issue 34 leaves out what it cannot use of a list with: ${mode}`, async () => {
      const { server, names } = open(mode);
      await server.wake();
      expect(names()).toHaveLength(count);
      expect(server.leftOut.join('\n')).toMatch(why);
      expect(server.leftOut.length).toBeLessThanOrEqual(20);
      await server.stop();
    });

  it('issue 34 stops reading a list without an end', async () => {
    const { server, lists } = open('endless pages');
    await server.wake();
    expect(lists).toHaveLength(1);
    await server.stop();
  });

  const endless: readonly [mode: string, pages: number, why: RegExp][] = [
    ['crowded pages', 1, /more than 2048 entries/],
    ['heavy pages', 2, /more than 16777216 bytes/],
  ];
  for (const [mode, pages, why] of endless)
    it(`issue 34 asks for no further page of a list with: ${mode}`, async () => {
      const { server } = open(mode);
      await server.wake();
      expect(server.leftOut.at(-1)).toMatch(why);
      expect(server.lastLines).toEqual(Array.from({ length: pages }, (_, at) => `page ${at}`));
      await server.stop();
    });

  it('issue 34 does not start with a list that breaks the protocol', async () => {
    const { server } = open('no tool');
    await expect(server.wake()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('issue 34 stops a server that floods its standard error', async () => {
    const { server } = open('stderr flood');
    await server.wake().catch(() => {});
    await vi.waitFor(() => expect(server.state).toBe('failing'), { timeout: 20_000 });
    await server.stop();
  }, 30_000);
});
