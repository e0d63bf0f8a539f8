import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCaller } from '../helpers/daemon-caller.ts';
import { askHttp } from '../helpers/http-door.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { OtlpCollector, type Span } from '../helpers/otlp-collector.ts';

const TOKEN = `collector-${randomBytes(8).toString('hex')}`;
/** A text of an access key, so that it is masked, and a word that no rule knows. */
const SECRET = `AKIA${[...randomBytes(16)].map((byte) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(byte % 32)).join('')}`;
const WORD = `canary${randomBytes(8).toString('hex')}`;
const collector = new OtlpCollector();
let at: Installation;
let url: string;

beforeAll(async () => {
  url = await collector.open();
  at = await install({ init: false, settings: { 'http.enabled': 'true' } });
  writeFileSync(join(at.home, 'collector-token'), `${TOKEN}\n`);
  await ctxd('config', 'set', 'telemetry.otlp_url', url);
  await ctxd('config', 'set', 'telemetry.otlp_token_file', join(at.home, 'collector-token'));
  await ctxd('config', 'set', 'telemetry.metrics_seconds', '1');
  expect((await ctxd('init')).code).toBe(0);
});
afterAll(async () => {
  await at.remove();
  await collector.close();
});

const ctxd = (...args: string[]) => at.run(CTXD, args);
const calls = (): Span[] => collector.spans().filter(({ name }) => name.startsWith('call '));
const attributesOf = ({ attributes }: Span) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

async function checked(): Promise<string> {
  const { checks } = JSON.parse((await ctxd('doctor', '--json')).stdout);
  const { status, detail } = checks.find(({ name }: { name: string }) => name === 'telemetry');
  return `${status} ${detail}`;
}

/** The lines of the daemon's log about telemetry, without their times. */
function logged(): string[] {
  const lines = readFileSync(join(at.home, 'state/daemon.log'), 'utf8').split('\n');
  return lines.flatMap((line) => /"(telemetry\.\w+)"/.exec(line)?.[1] ?? []);
}

describe('a collector of OpenTelemetry', () => {
  it('NFR-1.4 SEC-2.1 gets a span for each call with its steps, and the metrics, and nothing of inputs, outputs, paths, names and secrets', async () => {
    mkdirSync(join(at.project, WORD));
    await at.ask('safe_write', { path: `${WORD}/${WORD}.txt`, content: `${WORD} ${SECRET}` });
    await at.ask('safe_read', { path: `${WORD}/${WORD}.txt` });
    await at.ask('safe_bash', { command: `cd ${WORD}; cat ${WORD}.txt; hostname; echo ${SECRET} >&2; exit 3` });
    await at.ask('safe_read', { path: `/${WORD}` });
    const caller = await openCaller(at, WORD);
    await caller.call(`no_${WORD}`, { [WORD]: SECRET });
    caller.close();
    const http = (await ctxd('http', 'url')).stdout.trim();
    const token = (await ctxd('http', 'token', '--name', WORD, '--allow', 'execute')).stdout.trim();
    const trace = randomBytes(16).toString('hex');
    const parent = randomBytes(8).toString('hex');
    const body = { project: at.project, input: { command: `echo ${WORD}` }, session: WORD };
    const path = '/v1/tools/safe_bash/execute';
    await askHttp(http, path, { token, body, headers: { traceparent: `00-${trace}-${parent}-01`, tracestate: WORD } });
    await askHttp(http, path, { token, body, headers: { traceparent: `00-${WORD}` } });
    await expect.poll(() => calls().length).toBe(7);
    await expect.poll(() => JSON.stringify(collector.metrics())).toContain('TOOL_NOT_FOUND');

    const [written, read, bash, outside, unknown, traced, untraced] = calls().map(attributesOf);
    const project = written?.['contextd.project'];
    expect(project).toMatch(/^[0-9a-f]{16}$/);
    expect(written).toMatchObject({ 'contextd.tool': 'safe_write', 'contextd.door': 'grpc', 'contextd.exit_code': 0 });
    expect(read).toMatchObject({ 'contextd.tool': 'safe_read', 'contextd.project': project });
    expect(read?.['contextd.answer.tokens']).toBeGreaterThan(0);
    expect(read?.['contextd.answer.bytes']).toBeGreaterThan(0);
    expect(bash).toMatchObject({ 'contextd.tool': 'safe_bash', 'contextd.exit_code': 3 });
    expect(outside).toMatchObject({ 'error.type': expect.stringMatching(/^[A-Z_]+$/) });
    expect(unknown).toMatchObject({ 'contextd.tool': 'other', 'error.type': 'TOOL_NOT_FOUND' });
    expect(traced).toMatchObject({ 'contextd.door': 'http' });
    expect(calls()[5]).toMatchObject({ traceId: trace, parentSpanId: parent });
    expect(calls()[6]?.parentSpanId).toBeUndefined();
    expect(untraced).toMatchObject({ 'contextd.door': 'http' });

    for (const call of calls()) {
      const steps = collector.spans().filter(({ parentSpanId }) => parentSpanId === call.spanId);
      expect(steps.map(({ name }) => name)).toEqual(expect.arrayContaining(['identify', 'scrub', 'budget', 'audit']));
      expect(steps.every(({ traceId }) => traceId === call.traceId)).toBe(true);
      expect(steps[0]?.startTimeUnixNano).toBe(call.startTimeUnixNano);
      expect(steps.at(-1)?.endTimeUnixNano).toBe(call.endTimeUnixNano);
    }
    const counts = JSON.stringify(collector.metrics());
    expect(counts).toContain('{"stringValue":"safe_bash"}');
    expect(collector.metrics().map(({ name }) => name)).toEqual(
      expect.arrayContaining(['contextd.calls', 'contextd.call.duration', 'contextd.step.duration', 'contextd.tokens']),
    );

    expect(collector.taken.every(({ headers }) => headers.authorization === `Bearer ${TOKEN}`)).toBe(true);
    const sent = collector.taken
      .flatMap(({ path: to, body: text, headers }) => [to, text, String(headers.baggage), String(headers.tracestate)])
      .join('\n');
    const base = dirname(at.home);
    for (const text of [WORD, SECRET, TOKEN, at.project, base, `"${hostname()}"`, 'hostname', 'echo', 'req_', 'art_'])
      expect(sent).not.toContain(text);
    expect(await checked()).toMatch(/^ok http:\/\/127\.0\.0\.1:\d+: last sent \d{4}-/);
  });

  it.each([
    ['never answers', 'hang' as const, 'did not answer'],
    ['refuses', 403, 'answered 403'],
  ])(
    'NFR-1.4 that %s: calls are answered meanwhile, the log says so once, `ctxd doctor` warns, and traces come again afterwards',
    async (_, mode, fault) => {
      collector.mode = mode;
      const before = logged().length;
      collector.untaken = 0;
      for (let n = 0; n < 3; n++)
        expect((await at.ask('safe_bash', { command: `echo ${n}` })).data.stdout).toBe(`${n}\n`);
      await expect.poll(checked).toContain(`warn ${url} ${fault}`);
      await expect.poll(() => collector.untaken, { timeout: 60_000 }).toBeGreaterThan(3);
      expect(logged().slice(before)).toEqual(['telemetry.not_sent']);
      collector.mode = 'take';
      collector.release();
      const traces = calls().length;
      expect((await at.ask('safe_bash', { command: 'echo again' })).data.stdout).toBe('again\n');
      await expect.poll(() => calls().length).toBeGreaterThan(traces);
      expect(logged().slice(before)).toEqual(['telemetry.not_sent', 'telemetry.sent_again']);
      expect(await checked()).toMatch(/^ok /);
    },
  );

  it('NFR-1.4 NFR-2.3 that is gone ends no call, and does not hold up the end of the daemon', async () => {
    await collector.close();
    expect((await at.ask('safe_bash', { command: 'echo gone' })).data.stdout).toBe('gone\n');
    await expect.poll(checked).toContain('cannot be reached (ECONNREFUSED)');
    const { code, stdout } = await ctxd('server', 'stop');
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/has stopped$/m) });
    await collector.open();
  });
});
