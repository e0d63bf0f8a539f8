import { afterEach, describe, expect, it } from 'vitest';
import type { CallRequest } from '#src/call/request.js';
import { attemptConnection } from '#src/proxy/connect.js';
import { resolvePlaces } from '#src/proxy/environment.js';
import { exchange } from '#src/proxy/exchange.js';
import { type ExecuteResponse, encodeExecuteRequest } from '#src/proxy/messages.js';
import { Bench } from '../fixtures/proxy-daemon/bench.ts';
import { answerCall, failCall } from '../fixtures/proxy-daemon/grpc-server.ts';
import { echo } from '../helpers/behind.ts';
import { type Behind, openDoor, type TestDoor } from '../helpers/door.ts';

const REQUEST = encodeExecuteRequest({
  tool: 'safe_bash',
  inputJson: Buffer.from('{}'),
  requestId: 'req_01JD0000000000000000000000',
  projectRoot: '/p',
  sessionId: '',
  branch: '',
  protocolVersion: 2,
  form: 'json',
  cwd: '',
  inputText: Buffer.alloc(0),
  door: 'own',
});

let close: () => Promise<void> = async () => {};
afterEach(() => close());

async function open(dispatch: Behind['dispatch']): Promise<TestDoor> {
  const at = await openDoor({ dispatch });
  close = () => at.remove();
  return at;
}

/** Makes a call over a new connection, as the proxy does. */
async function call(
  paths: { socket: string; certsDir: string },
  onProgress?: (text: string) => void,
  signal = new AbortController().signal,
): Promise<ExecuteResponse | undefined> {
  const unused = resolvePlaces({ contextdHome: '/unused' } as Parameters<typeof resolvePlaces>[0]);
  const places = { ...unused, socket: paths.socket, certsDir: paths.certsDir };
  const attempt = await attemptConnection(places, signal);
  if (attempt.kind !== 'connected') throw new Error(attempt.kind);
  try {
    return await exchange(attempt.channel, REQUEST, places, signal, onProgress);
  } finally {
    attempt.channel.end();
  }
}

describe('a call with progress', () => {
  it('FR-1.3 receives the output so far before the answer, and the same answer as a call without progress', async () => {
    const { promise: told, resolve: onTold } = Promise.withResolvers<void>();
    const { paths } = await open(async (request) => {
      request.onProgress?.('first\n');
      if (request.onProgress !== undefined) await told;
      request.onProgress?.('sécond\n');
      return echo(request);
    });
    const shown: string[] = [];
    const answer = await call(paths, (text) => {
      shown.push(text);
      onTold();
    });
    expect(shown).toEqual(['first\n', 'sécond\n']);
    expect(answer).toEqual(await call(paths));
  });

  it('FR-1.3 carries far more progress than one flow-control window', async () => {
    const piece = 'x'.repeat(1024 * 1024);
    let sent = 0;
    const { paths } = await open(async (request) => {
      const acknowledge = request.signal;
      for (; sent < 80 && !acknowledge.aborted; sent++) {
        request.onProgress?.(piece);
        await taken.next();
      }
      return echo(request);
    });
    const taken = turns();
    let bytes = 0;
    await call(paths, (text) => {
      bytes += text.length;
      taken.give();
    });
    expect([sent, bytes]).toEqual([80, 80 * piece.length]);
  });

  it('does not queue events for a caller that does not read, and does not wait for it', async () => {
    const { promise: dispatched, resolve: onDispatched } = Promise.withResolvers<number>();
    const at = await open(async (request) => {
      const before = process.memoryUsage().arrayBuffers;
      const piece = 'x'.repeat(1024 * 1024);
      for (let i = 0; i < 2_000; i++) request.onProgress?.(piece);
      onDispatched(process.memoryUsage().arrayBuffers - before);
      return echo(request);
    });
    const request = { tool: 'safe_bash', input_json: Buffer.from('{}'), context: { protocol_version: 2 } };
    const stream = at.clients('proxy').tools.ExecuteWithProgress(request);
    expect(await dispatched).toBeLessThan(200 * 1024 * 1024);
    let events = 0;
    let hasAnswer = false;
    for await (const { answer } of stream) {
      events += 1;
      hasAnswer ||= answer !== null && answer !== undefined;
    }
    expect(events).toBeLessThan(100);
    expect(hasAnswer).toBe(true);
  });

  it('cancels the command when the call is cancelled', async () => {
    const seen: CallRequest[] = [];
    const { promise: begun, resolve: onBegun } = Promise.withResolvers<void>();
    const { promise: ended, resolve: onEnded } = Promise.withResolvers<unknown>();
    const { paths } = await open(async (request) => {
      seen.push(request);
      onBegun();
      await new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve()));
      onEnded(request.signal.reason);
      return echo(request);
    });
    const cancel = new AbortController();
    const calling = call(paths, () => {}, cancel.signal);
    await begun;
    cancel.abort();
    await expect(calling).rejects.toMatchObject({ code: 'CANCELLED' });
    await expect(ended).resolves.toMatchObject({ code: 'CANCELLED' });
  });
});

describe('a call with progress to a daemon without progress', () => {
  it('is repeated once without progress on a new connection; no other call is repeated', async () => {
    const bench = await Bench.create('stand-in');
    close = async () => {
      await bench.stopServing();
      bench.remove();
    };
    const asked: string[] = [];
    await bench.serve({
      onOther(path, stream) {
        asked.push(path);
        failCall(stream, 12, 'The server does not implement the method');
      },
      onCall({ answer }) {
        asked.push('Execute');
        answer({ envelope_json: Buffer.from('{}') });
      },
    });
    const answer = await call(bench, () => {});
    expect(answer).toMatchObject({ envelopeJson: Buffer.from('{}'), exitCode: 0 });
    expect(asked).toEqual(['/contextd.v1.ToolService/ExecuteWithProgress', 'Execute']);
  });

  it.each([
    [
      'an error of the daemon that bears the same status',
      { 'contextd-code': 'NOT_IMPLEMENTED' },
      12,
      'NOT_IMPLEMENTED',
    ],
    ['another status', {}, 13, 'INTERNAL_ERROR'],
  ])('is not repeated after %s', async (_, trailers, status, code) => {
    const bench = await Bench.create('stand-in');
    close = async () => {
      await bench.stopServing();
      bench.remove();
    };
    await bench.serve({ onOther: (_path, stream) => failCall(stream, status, 'no', trailers) });
    await expect(call(bench, () => {})).rejects.toMatchObject({ code });
  });

  it('is reported as possibly run if its last event is not an answer', async () => {
    const bench = await Bench.create('stand-in');
    close = async () => {
      await bench.stopServing();
      bench.remove();
    };
    await bench.serve({ onOther: (_path, stream) => answerCall(stream, Buffer.from('0a030a0161', 'hex')) });
    await expect(call(bench, () => {})).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});

/** Lets one side wait until the other side gives it a turn. */
function turns() {
  let waiting: (() => void) | null = null;
  let given = 0;
  return {
    give() {
      given += 1;
      waiting?.();
    },
    async next(): Promise<void> {
      if (given === 0) await new Promise<void>((resolve) => (waiting = resolve));
      waiting = null;
      given -= 1;
    },
  };
}
