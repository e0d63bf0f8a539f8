import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHttpDoor, type TestHttpDoor, TOKEN } from '../helpers/http-door.ts';

const CHROMIUM = '/usr/bin/chromium';
const isThere = existsSync(CHROMIUM);
if (!isThere) console.warn(`SKIPPED in http-browser.test.ts: there is no browser at ${CHROMIUM}`);

let at: TestHttpDoor;
let called: string[];
let answered: string[];
let browser: ChildProcess | null = null;
let profile: string;
let closeProxy: () => Promise<void>;

beforeEach(async () => {
  called = [];
  at = await openHttpDoor({
    async dispatch({ tool }) {
      called.push(tool);
      throw new Error('no page may call a tool');
    },
  });
  answered = [];
});
afterEach(async () => {
  const ended = browser?.exitCode === null ? new Promise((resolve) => browser?.once('close', resolve)) : null;
  // The browser is the leader of a group of processes.
  if (browser?.pid !== undefined && ended !== null) process.kill(-browser.pid, 'SIGKILL');
  await ended;
  browser = null;
  await closeProxy();
  await at.remove();
  rmSync(profile, { recursive: true, force: true });
});

/**
 * Shows a page in a real browser whose names are resolved by an attacker: the names of `example.com` lead to the page, and
 * after the page has asked for `/flip`, to the door. Resolves with what the page reports.
 */
async function show(url: string, page: string): Promise<unknown> {
  const { promise: report, resolve } = Promise.withResolvers<unknown>();
  let leadsToDoor = false;
  const proxy = createServer((incoming, outgoing) => {
    const target = URL.parse(incoming.url ?? '');
    if (target === null || !target.hostname.endsWith('example.com')) return void outgoing.writeHead(404).end();
    if (target.pathname === '/report') {
      let text = '';
      incoming.on('data', (chunk) => {
        text += chunk;
      });
      return void incoming.on('end', () => {
        outgoing.end();
        resolve(JSON.parse(text));
      });
    }
    if (target.pathname === '/flip') {
      leadsToDoor = true;
      return void outgoing.end();
    }
    if (!leadsToDoor) return void outgoing.writeHead(200, { 'content-type': 'text/html' }).end(page);
    const { method = 'GET', headers } = incoming;
    const sent = forward({
      host: '127.0.0.1',
      port: at.port,
      path: `${target.pathname}${target.search}`,
      method,
      headers,
    });
    sent.on('response', (response) => {
      answered.push(`${target.pathname} ${response.statusCode}`);
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(sent);
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  closeProxy = () =>
    new Promise((done) => {
      proxy.close(() => done());
      proxy.closeAllConnections();
    });
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('it listens at a port');
  profile = mkdtempSync(join(tmpdir(), 'browser-'));
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-dev-shm-usage'];
  const own = [`--user-data-dir=${profile}`, `--proxy-server=http://127.0.0.1:${address.port}`];
  browser = spawn(CHROMIUM, [...flags, ...own, url], { detached: true, stdio: 'ignore' });
  browser.once('error', (error) => resolve(error));
  return report;
}

/** The script of a page: `body` returns what it reports. */
function pageOf(body: string): string {
  return `<!doctype html><iframe name="frame"></iframe><script>
    const outcome = (promise) => promise.then((r) => r.type === 'opaque' ? 'opaque' : r.status, () => 'blocked');
    const events = (url) => new Promise((done) => {
      const source = new EventSource(url);
      source.onopen = () => done('open');
      source.onerror = () => { source.close(); done('blocked'); };
    });
    (async () => { ${body} })().catch(String).then((told) => fetch('/report', { method: 'POST', body: JSON.stringify(told) }));
  </script>`;
}

const CALL = JSON.stringify({ project: '/p', input: 'touch /p/pwned' });
const AUTHORIZED = `{ authorization: 'Bearer ${TOKEN}', 'content-type': 'application/json' }`;

describe('issue 32.2 a real browser', { timeout: 90_000 }, () => {
  it.skipIf(!isThere)('a page reaches nothing by DNS rebinding, also if it knows a token', async () => {
    const page = pageOf(`
      await fetch('/flip');
      const execute = '/v1/tools/safe_bash/execute';
      return {
        health: await outcome(fetch('/v1/health', { headers: ${AUTHORIZED} })),
        proof: await outcome(fetch('/v1/proof?nonce=${'ab'.repeat(16)}')),
        call: await outcome(fetch(execute, { method: 'POST', headers: ${AUTHORIZED}, body: ${JSON.stringify(CALL)} })),
        events: await events('/events'),
        code: (await (await fetch('/v1/health')).json()).data.error_code,
      };`);
    const told = await show(`http://rebind.example.com:${at.port}/`, page);
    expect(told).toEqual({ health: 403, proof: 403, call: 403, events: 'blocked', code: 'PERMISSION_DENIED' });
    expect(answered).toContain('/v1/health 403');
    expect(called).toEqual([]);
  });

  it.skipIf(!isThere)(
    'a page of another origin reads nothing and calls nothing, also if it knows a token',
    async () => {
      const page = pageOf(`
      const door = 'http://127.0.0.1:${at.port}';
      const execute = door + '/v1/tools/safe_bash/execute';
      const form = document.createElement('form');
      Object.assign(form, { method: 'POST', action: execute, enctype: 'text/plain', target: 'frame' });
      const field = document.createElement('input');
      Object.assign(field, { name: ${JSON.stringify(CALL)}, value: '' });
      form.append(field);
      document.body.append(form);
      const loaded = new Promise((done) => { document.querySelector('iframe').onload = done; });
      form.submit();
      await loaded;
      return {
        read: await outcome(fetch(door + '/v1/health', { headers: ${AUTHORIZED} })),
        proof: await outcome(fetch(door + '/v1/proof?nonce=${'ab'.repeat(16)}')),
        call: await outcome(fetch(execute, { method: 'POST', headers: ${AUTHORIZED}, body: ${JSON.stringify(CALL)} })),
        simple: await outcome(fetch(execute, { method: 'POST', mode: 'no-cors', body: ${JSON.stringify(CALL)} })).then((it) => it === 'opaque' || it === 'blocked'),
        events: await events(door + '/events'),
        script: await new Promise((done) => {
          const script = document.createElement('script');
          Object.assign(script, { src: door + '/openapi.json', onload: () => done('ran'), onerror: () => done('blocked') });
          document.body.append(script);
        }),
      };`);
      const told = await show('http://page.example.com/', page);
      const blocked = { read: 'blocked', proof: 'blocked', call: 'blocked', events: 'blocked', script: 'blocked' };
      expect(told).toEqual({ ...blocked, simple: true });
      expect(called).toEqual([]);
    },
  );
});
