import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { parseRecord } from '#src/audit/record.js';
import { openHttpDoor, type TestHttpDoor, TOKEN } from '../helpers/http-door.ts';

let at: TestHttpDoor;
const watchers: Watcher[] = [];
afterEach(async () => {
  for (const watcher of watchers.splice(0)) watcher.close();
  await at.remove();
});

class Watcher {
  text = '';
  isOver = false;
  readonly #response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8').on('data', (chunk) => {
      this.text += chunk;
    });
    response.on('close', () => {
      this.isOver = true;
    });
  }

  get status(): number | undefined {
    return this.#response.statusCode;
  }

  /** The ids, names and data of the events so far. */
  events() {
    return [...this.text.matchAll(/(?:id: (.*)\n)?event: (.*)\ndata: (.*)\n\n/g)].map(([, id, name, data]) => ({
      id,
      name,
      data: JSON.parse(data ?? ''),
    }));
  }

  close(): void {
    this.#response.destroy();
  }
}

async function watch(token = TOKEN, headers: Record<string, string> = {}): Promise<Watcher> {
  const request = get(`${at.url}/events`, { agent: false, headers: { authorization: `Bearer ${token}`, ...headers } });
  const [response] = await once(request, 'response');
  const watcher = new Watcher(response);
  watchers.push(watcher);
  await expect.poll(() => watcher.text).toContain('retry: ');
  return watcher;
}

function record(project: string, more: object = {}) {
  const line = {
    time: '2026-01-01T00:00:00.000Z',
    request_id: 'req_1',
    session: 's',
    project,
    door: 'grpc',
    tool: 'safe_bash',
  };
  const end = { input: null, output_sha256: '', output_bytes: 0, duration_ms: 1, secrets_found: 0, secret_rules: [] };
  const parsed = parseRecord({
    bytes: Buffer.from(JSON.stringify({ ...line, ...end, exit_code: 0, error_code: null, ...more })),
    isTorn: false,
  });
  if (parsed === null) throw new Error('not a record');
  return parsed;
}

describe('issue 32.1 events', () => {
  it('are sent as they happen, each under the name of what it is about', async () => {
    at = await openHttpDoor();
    const watcher = await watch();
    at.events.record(record('/p', { kind: 'started' }));
    at.events.record(record('/p'));
    at.events.record(record('/p', { job: 1 }));
    at.events.record(record('', { kind: 'person', tool: 'http token' }));
    at.events.record(record('/p', { kind: 'connections' }));
    at.events.session('started', { project: '/p', session: 's', branch: null });
    await expect.poll(() => watcher.events().length).toBe(6);
    expect(watcher.events().map(({ name }) => name)).toEqual(['call', 'call', 'job', 'person', 'network', 'session']);
    expect(watcher.events()[0]).toMatchObject({
      id: `${at.events.epoch}-1`,
      data: { kind: 'started', tool: 'safe_bash' },
    });
  });

  it('of other projects are not sent to a token for one', async () => {
    at = await openHttpDoor();
    at.grants.set('own', { name: 'own', scope: '/p', permissions: ['read'] });
    const watcher = await watch('own');
    for (const project of ['/q', '', '/p', '/p/sub']) at.events.record(record(project));
    at.events.record(record('/p', { tool: 'last' }));
    await expect.poll(() => watcher.text).toContain('"last"');
    expect(watcher.events().map(({ data }) => data.project)).toEqual(['/p', '/p']);
  });

  it('go on after an interruption where the client was, or say that some are missing', async () => {
    at = await openHttpDoor();
    for (let i = 0; i < 3; i += 1) at.events.record(record('/p'));
    const { epoch } = at.events;
    const ids = async (last: string) => {
      const watcher = await watch(TOKEN, { 'last-event-id': last });
      at.events.record(record('/p', { tool: 'last' }));
      await expect.poll(() => watcher.text).toContain('"last"');
      watcher.close();
      return watcher.events().map(({ id, name }) => id ?? name);
    };
    expect(await ids(`${epoch}-2`)).toEqual([`${epoch}-3`, `${epoch}-4`]);
    expect(await ids('another-2')).toEqual(['gap', `${epoch}-5`]);
    expect(await ids('nonsense')).toEqual(['gap', `${epoch}-6`]);
    for (let i = 0; i < 1_000; i += 1) at.events.record(record('/p'));
    expect((await ids(`${epoch}-1`))[0]).toBe('gap');
    const long = 'x'.repeat(60_000);
    for (let i = 0; i < 100; i += 1) at.events.record(record('/p', { input: long }));
    expect(at.events.since(1_010)).toBeNull();
    expect(at.events.since(1_100)?.length).toBeLessThan(70);
  });

  it('end when the token ends, and when the door closes', async () => {
    at = await openHttpDoor();
    const [first, second] = [await watch(), await watch()];
    at.events.record(record('/p'));
    await expect.poll(() => [first.events().length, second.events().length]).toEqual([1, 1]);
    at.grants.set(TOKEN, { name: 'all', scope: '', permissions: ['read'] });
    at.events.record(record('/p', { tool: 'after' }));
    await expect.poll(() => [first.isOver, second.isOver]).toEqual([true, true]);
    expect(first.text).not.toContain('after');
    const third = await watch();
    await at.door.stop();
    await expect.poll(() => third.isOver).toBe(true);
  });

  it('do not fill the memory for a client that does not read: its stream ends', async () => {
    at = await openHttpDoor();
    const socket = await at.dial();
    socket.write(`GET /events HTTP/1.1\r\nHost: ${at.host}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
    await once(socket, 'readable');
    expect(followers()).toBe(1);
    const input = 'x'.repeat(60_000);
    // More than the buffers of both ends of the connection hold.
    for (let i = 0; followers() > 0 && i < 2_000; i += 1) {
      at.events.record(record('/p', { input }));
      await new Promise(setImmediate);
    }
    expect(followers()).toBe(0);
    socket.destroy();
  }, 30_000);

  it('leave nothing behind when the client goes away', async () => {
    at = await openHttpDoor();
    const watcher = await watch();
    expect(followers()).toBe(1);
    watcher.close();
    await expect.poll(followers).toBe(0);
    expect((await at.ask('/events', { method: 'HEAD' })).status).toBe(200);
    await expect.poll(followers).toBe(0);
  });
});

function followers(): number {
  return at.followers();
}
