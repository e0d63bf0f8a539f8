import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UNREAD_MAX_BYTES } from '#src/core/limits.js';
import { CTXD } from '../helpers/installation.ts';
import { connectClient, newClient, textOf } from '../helpers/mcp-client.ts';
import {
  openPassthrough,
  PASSTHROUGH_WORDS,
  type PassthroughDoor,
  SERVERS,
  WAYS_AND_ERAS,
} from '../helpers/passthrough-door.ts';

/** Three kinds of each, within what a server may send at once. */
const EACH = 3_330;

let door: PassthroughDoor;

beforeAll(async () => {
  door = await openPassthrough('storm');
});

beforeEach(async () => {
  // A new process has sent nothing yet.
  await door.addServer('storm', SERVERS, `${SERVERS}/storm.mjs`);
});
afterAll(() => door?.at.remove());

async function echoElsewhere(text: string): Promise<string> {
  const other = await connectClient(door.at, '2026-07-28');
  try {
    return textOf(await other.callTool({ name: 'safe_bash', arguments: { command: `echo ${text}` } }));
  } finally {
    await other.close();
  }
}

const progressIn = ({ params }: { params?: Record<string, unknown> | undefined }): number => Number(params?.progress);

describe.each(WAYS_AND_ERAS)(
  'a server that sends 9,990 notifications at once during a call, over %s to a client of %s',
  (way, era) => {
    it('issue 34: the call ends right, another client is answered meanwhile, and changes of lists count as few', async () => {
      const client = newClient(era);
      const lines: unknown[] = [];
      const changed: string[] = [];
      const heard = Promise.withResolvers<void>();
      client.setNotificationHandler('notifications/message', ({ params }) => {
        if (lines.push(params.data) === EACH) heard.resolve();
      });
      for (const list of ['tools', 'resources', 'prompts'] as const)
        client.setNotificationHandler(`notifications/${list}/list_changed`, () => void changed.push(list));
      const connection = door.transport(way);
      await client.connect(connection);
      // The SDK forgets the progress that it reads together with the answer.
      const progress: number[] = [];
      const { onmessage } = connection;
      connection.onmessage = (message, ...rest) => {
        if ('method' in message && message.method === 'notifications/progress') progress.push(progressIn(message));
        onmessage?.(message, ...rest);
      };
      const level = era === '2026-07-28' ? { _meta: { 'io.modelcontextprotocol/logLevel': 'debug' } } : {};
      const storm = client.callTool(
        { name: 'storm', arguments: { count: EACH }, ...level },
        { onprogress: () => {}, timeout: 120_000 },
      );
      expect(await echoElsewhere('calm')).toBe('calm\n');
      await Promise.race([heard.promise, storm]);
      const released = client.callTool({ name: 'release', arguments: {} }, { timeout: 120_000 });
      expect(textOf(await storm)).toBe('over');
      expect(textOf(await released)).toBe('released');
      expect(lines).toEqual(Array.from({ length: EACH }, (_, index) => index));
      expect(progress).toEqual([...new Set(progress)].sort((a, b) => a - b));
      expect(progress.at(-1)).toBe(EACH);
      expect(changed.length).toBeLessThan(EACH / 10);
      await client.close();
    });
  },
);

/** `ctxd mcp serve` whose client writes, and reads nothing until the test says so. */
class DeafClient {
  readonly process: ChildProcess;
  readonly lines: Record<string, unknown>[] = [];

  constructor(words: readonly string[]) {
    this.process = spawn(CTXD, ['mcp', 'serve', ...words], {
      cwd: door.at.project,
      env: door.at.environment,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  }

  send(message: object): void {
    this.process.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Reads on until the answer to this request. */
  async answer(id: number): Promise<Record<string, unknown>> {
    const { stdout } = this.process;
    if (stdout === null) throw new Error('a piped output is there');
    for await (const line of createInterface(stdout)) {
      const message = JSON.parse(line);
      this.lines.push(message);
      if (message.id === id) return message;
    }
    throw new Error('the server ended without the answer');
  }

  async close(): Promise<void> {
    const exited = once(this.process, 'exit');
    this.process.stdin?.end();
    this.process.stdout?.resume();
    await exited;
  }
}

it('issue 34: the call of a client over stdio that does not read is cancelled, also if its server has sent everything, and the client gets the error when it reads on', async () => {
  const client = new DeafClient(PASSTHROUGH_WORDS);
  const clientInfo = { name: 'deaf', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  client.send({ id: 0, method: 'initialize', params });
  client.send({ method: 'notifications/initialized' });
  client.send({ id: 1, method: 'tools/call', params: { name: 'flood', arguments: { mib: 40 } } });
  // The daemon can only know it if the bridge reads no more than its client.
  const ended = async () =>
    JSON.parse(await door.ctxd('audit', 'tail', '--json')).find(
      ({ input }: { input: { mib?: number } | null }) => input?.mib === 40,
    )?.error_code;
  await expect.poll(ended, { timeout: 60_000 }).toBe('CANCELLED');
  expect(await echoElsewhere('unharmed')).toBe('unharmed\n');
  const answer = JSON.stringify(await client.answer(1));
  expect(answer).toContain(`the client left more than ${UNREAD_MAX_BYTES} bytes unread`);
  const bytes = client.lines.reduce((sum, line) => sum + JSON.stringify(line).length, 0);
  expect(bytes).toBeGreaterThan(UNREAD_MAX_BYTES);
  expect(bytes).toBeLessThan(2 * UNREAD_MAX_BYTES);
  await client.close();
});
