import { createHash, createHmac, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { writeLogAgain } from '../helpers/write-log-again.ts';

const TOKEN = 'a-token-of-the-collector';
const [ACCESS_KEY, SECRET_KEY] = ['shipper', 'open-sesame'];

interface Received {
  method: string;
  path: string;
  body: string;
}

/** What the collector and the bucket took, and what they refuse at the moment. */
const received: Received[] = [];
let refusal: { status: number; body: string } | null = null;
let arrived: () => void = () => {};
let server: Server;
let at: Installation;

/** A collector at /v1/logs and a bucket of S3 at every other path. Both take only what is signed as they ask. */
function answer(request: IncomingMessage, body: Buffer): { status: number; body: string } {
  if (refusal !== null) return refusal;
  const isLogs = request.url === '/v1/logs';
  const isAllowed = isLogs ? request.headers.authorization === `Bearer ${TOKEN}` : isSigned(request, body);
  if (!isAllowed) return { status: 403, body: '' };
  received.push({ method: request.method ?? '', path: request.url ?? '', body: body.toString() });
  return { status: 200, body: isLogs ? '{"partialSuccess":{}}' : '' };
}

/** AWS Signature Version 4 of one request, made again from what came. */
function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const given = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
    request.headers.authorization ?? '',
  );
  const [, credential = '', names = '', signature = ''] = given ?? [];
  const [accessKey, day = '', region = '', service = '', end = ''] = credential.split('/');
  const hash = createHash('sha256').update(body).digest('hex');
  if (request.headers['x-amz-content-sha256'] !== hash || accessKey !== ACCESS_KEY) return false;
  const [path = '', query = ''] = (request.url ?? '').split('?');
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const parameters = query.split('&').filter(Boolean).sort().join('&');
  const canonical = [request.method, path, parameters, headers.join(''), names, hash].join('\n');
  const scope = [day, region, service, end].join('/');
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, digest].join('\n');
  const hmac = (key: string | Buffer, value: string) => createHmac('sha256', key).update(value).digest();
  const key = [day, region, service, end].reduce<string | Buffer>(
    (last, part) => hmac(last, part),
    `AWS4${SECRET_KEY}`,
  );
  return hmac(key, text).toString('hex') === signature;
}

/** Resolves once `isThere` finds what it waits for among what was received. */
async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise<void>((resolve) => (arrived = resolve));
}

const logs = () => received.filter(({ path }) => path === '/v1/logs');
const objects = () => received.filter(({ path }) => path !== '/v1/logs');
const ctxd = (...args: string[]) => at.run(CTXD, args);

async function checks() {
  const all = JSON.parse((await ctxd('doctor', '--json')).stdout).checks as {
    name: string;
    status: string;
    detail: string;
  }[];
  return all.filter(({ name }) => name === 'audit heads elsewhere');
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { status, body } = answer(request, Buffer.concat(chunks));
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      arrived();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  at = await install({ init: false });
  const tokenFile = join(at.home, 'token');
  writeFileSync(tokenFile, `${TOKEN}\n`);
  const aws = join(dirname(at.home), '.aws');
  mkdirSync(aws);
  writeFileSync(
    join(aws, 'credentials'),
    `[audit]\naws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key = ${SECRET_KEY}\n`,
  );
  const settings = {
    otlp_url: `${url}/v1/logs`,
    otlp_token_file: tokenFile,
    s3_bucket: 'heads',
    s3_endpoint: url,
    s3_region: 'eu-north-1',
    s3_profile: 'audit',
  };
  for (const [key, value] of Object.entries(settings)) await ctxd('config', 'set', `audit.ship.${key}`, value);
  expect((await ctxd('init')).code).toBe(0);
});
afterAll(async () => {
  await at.remove();
  server.close();
});
beforeEach(() => {
  refusal = null;
});

describe('a head of the audit log on another machine', () => {
  it('SEC-5.4 arrives at an OpenTelemetry collector and in a bucket, and finds a log that was written again with its key', async () => {
    await at.ask('safe_bash', { command: 'echo evil' });
    await until(() => logs().length > 0 && objects().length > 0);

    const [log] = logs();
    const { resourceLogs } = JSON.parse(log?.body ?? '');
    const [{ resource, scopeLogs }] = resourceLogs;
    expect(resource.attributes).toContainEqual({ key: 'host.name', value: { stringValue: hostname() } });
    const [record] = scopeLogs[0].logRecords;
    const head = JSON.parse(record.body.stringValue);
    expect(record).toMatchObject({
      timeUnixNano: expect.stringMatching(/^\d{19}$/),
      severityNumber: 9,
      attributes: [{ key: 'contextd.audit.seq', value: { intValue: String(head.seq) } }],
    });
    const [object] = objects();
    expect(object).toMatchObject({ method: 'PUT', path: expect.stringContaining(`/heads/contextd/${hostname()}/`) });
    expect(JSON.parse(object?.body ?? '')).toMatchObject({ segment: 1, mac: expect.any(String) });

    const said = (await ctxd('audit', 'head')).stderr;
    expect(said).toMatch(/^ctxd: http:\/\/127\.0\.0\.1:\d+\/v1\/logs has the head of record \d+ since /);
    expect((await checks()).map(({ status }) => status)).toEqual(['ok', 'ok']);

    await ctxd('server', 'stop');
    const [collected, stored] = [join(at.home, 'collected.jsonl'), join(at.home, 'stored.jsonl')];
    writeFileSync(
      collected,
      logs()
        .map(({ body }) => `${body}\n`)
        .join(''),
    );
    writeFileSync(
      stored,
      objects()
        .map(({ body }) => body)
        .join(''),
    );
    for (const kept of [collected, stored])
      expect((await ctxd('audit', 'verify', '--against', kept)).stdout).toMatch(/^ok: /);

    const original = readdirSync(join(at.home, 'state/audit')).map((name) => {
      const file = join(at.home, 'state/audit', name);
      return { file, text: readFileSync(file) };
    });
    const [headFile, headText] = [join(at.home, 'state/audit.head'), readFileSync(join(at.home, 'state/audit.head'))];
    writeLogAgain(at.home, (line) => line.replace(/"door":"\w+"/, '"door":"nowhere"'));
    expect((await ctxd('audit', 'verify')).stdout).toMatch(/^ok: /);
    for (const kept of [collected, stored])
      expect(await ctxd('audit', 'verify', '--against', kept)).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('the log was written again'),
      });
    for (const { file, text } of original) writeFileSync(file, text);
    writeFileSync(headFile, headText);
    expect((await ctxd('server', 'start')).code).toBe(0);
  });

  it.each([
    ['that answers with an error', { status: 503, body: '' }, 'answered 503'],
    [
      'that rejects the record',
      { status: 200, body: '{"partialSuccess":{"rejectedLogRecords":"1"}}' },
      'rejected the record',
    ],
  ])(
    'SEC-5.4 is tried again at a server %s, which ctxd doctor reports, and no call waits for it',
    async (_, refuses, fault) => {
      const before = received.length;
      const marks = () => received.slice(before).filter(({ path }) => path === '/v1/logs');
      const asked = new Promise<void>((resolve) => (arrived = resolve));
      refusal = refuses;
      await ctxd('config', 'set', 'audit.ship.minutes', before % 2 === 0 ? '1' : '2');
      await ctxd('server', 'restart');
      await at.ask('safe_bash', { command: 'true' });
      await asked;
      const isSaid = async () => (await ctxd('audit', 'head')).stderr.includes(fault);
      while (!(await isSaid()));
      expect((await checks())[0]).toMatchObject({
        status: 'warn',
        detail: expect.stringContaining(`${fault}; it has the head`),
      });
      expect((await at.ask('safe_bash', { command: 'echo answered' })).data.stdout).toBe('answered\n');
      refusal = null;
      await until(() => marks().length > 0);
      const isOver = async () => !(await ctxd('audit', 'head')).stderr.includes(fault);
      while (!(await isOver()));
      expect((await checks()).map(({ status }) => status)).toEqual(['ok', 'ok']);
    },
  );

  it('SEC-1.1 SEC-5.4 goes to an address whose token no message, record or log shows', async () => {
    const token = randomBytes(12).toString('hex');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const said: string[] = [];
    const say = async (...words: string[]): Promise<string> => {
      const { stdout, stderr } = await ctxd(...words);
      said.push(`${stdout}${stderr}`);
      return stderr;
    };
    await say('config', 'set', 'audit.ship.otlp_url', `${url}/in/${token}/logs`);
    await say('config', 'set', 'audit.ship.s3_endpoint', `${url}/${token}`);
    await say('config', 'set', 'audit.ship.otlp_url', `https://user:${token}@collector.example.com/v1/logs`);
    await say('config', 'set', 'audit.ship.otlp_url', `https://collector.example.com/v1/logs?token=${token}`);
    await say('server', 'restart');
    await at.ask('safe_bash', { command: 'true' });
    while (!(await say('audit', 'head')).includes(`${url}/…`));
    while (!(await say('audit', 'head')).includes(`${url}/…/heads`));
    for (const words of [['config', 'list'], ['doctor'], ['audit', 'tail', '--json'], ['server', 'logs']])
      await say(...words);
    for (const file of ['state/audit.shipped', 'state/log/contextd.log']) {
      const path = join(at.home, file);
      if (existsSync(path)) said.push(readFileSync(path, 'utf8'));
    }
    expect(said.join('\n')).toContain('audit.ship.otlp_url');
    expect(said.join('\n')).not.toContain(token);
    expect((await ctxd('config', 'get', 'audit.ship.otlp_url')).stdout).toBe(`${url}/in/${token}/logs\n`);
  });

  it('SEC-3.1 is sent nowhere in the clear: an address without TLS on another machine is refused', async () => {
    const far = await ctxd('config', 'set', 'audit.ship.otlp_url', 'http://collector.example.com/v1/logs');
    expect(far).toMatchObject({ code: 2, stderr: expect.stringContaining('audit.ship.otlp_url') });
  });
});
