import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject } from '#src/core/json.js';
import { PERMISSIONS } from '#src/core/permissions.js';
import type { HttpRoute } from '#src/doors/http/route.js';
import { ROUTES } from '#src/doors/http/routes.js';
import { checkedEnvelope } from '../helpers/envelope-schema.ts';
import { type AskOptions, askHttp } from '../helpers/http-door.ts';
import { CTXD, type Installation, install, processesNamed } from '../helpers/installation.ts';

let at: Installation;
let other: string;
let url: string;
const tokens = new Map<string, string>();

/** Every set of permissions. Each has a token for the machine, for the project and for another one. */
const SETS = Array.from({ length: 2 ** PERMISSIONS.length - 1 }, (_, bits) =>
  PERMISSIONS.filter((_one, index) => ((bits + 1) >> index) % 2 === 1),
);

beforeAll(async () => {
  at = await install({ settings: { 'http.enabled': 'true' } });
  url = (await at.run(CTXD, ['http', 'url'])).stdout.trim();
  other = mkdtempSync(join(tmpdir(), 'project-'));
  await at.run(CTXD, ['init'], { cwd: other });
  for (const set of SETS) {
    for (const [scope, dir] of [
      ['machine', null],
      ['own', at.project],
      ['other', other],
    ] as const) {
      const name = `${set.join('-')}.${scope}`;
      const project = dir === null ? [] : ['--project', dir];
      const made = await at.run(CTXD, ['http', 'token', '--name', name, '--allow', set.join(','), ...project]);
      expect(made).toMatchObject({ code: 0, stderr: '' });
      tokens.set(name, made.stdout.trim());
    }
  }
}, 240_000);
afterAll(async () => {
  await at.remove();
  rmSync(other, { recursive: true, force: true });
});

const ask = (path: string, token: string, options: AskOptions = {}) => askHttp(url, path, { ...options, token });
const all = (): string => tokens.get('read-execute-decide.machine') ?? '';
const call = (input: unknown, more: object = {}) => ({ body: { project: at.project, input, ...more } });

interface RecordLine {
  tool: string;
  door: string;
  token?: string;
  error_code: string | null;
  kind?: string;
}

async function records(): Promise<RecordLine[]> {
  return JSON.parse((await at.run(CTXD, ['audit', 'tail', '--lines', '50', '--json'])).stdout);
}

describe('issue 32.1 the routes of API-3', () => {
  it('API-3: calls a tool with an object or with words, as every door does, and records the token', async () => {
    const inJson = await ask('/v1/tools/safe_bash/execute', all(), call({ command: 'echo from json' }));
    expect(inJson.status).toBe(200);
    expect(inJson.json).toMatchObject({ success: true, data: { stdout: 'from json\n', exit_code: 0 } });
    checkedEnvelope(inJson.text);
    const inWords = await ask('/v1/tools/safe_bash/execute', all(), call('echo from words'));
    expect(inWords.json).toMatchObject({ success: true, data: { stdout: 'from words\n' } });
    expect((await records()).slice(-2)).toMatchObject([
      { tool: 'safe_bash', door: 'http', token: 'read-execute-decide.machine', error_code: null },
      { tool: 'safe_bash', door: 'http', token: 'read-execute-decide.machine', error_code: null },
    ]);
  });

  it('answers with the status that the error has in the table', async () => {
    const failures = [
      await ask('/v1/tools/no_such_tool/execute', all(), call({})),
      await ask('/v1/tools/safe_bash/execute', all(), call({ wrong: 1 })),
      await ask('/v1/tools/safe_bash/execute', all(), { body: { project: '/nowhere', input: 'true' } }),
      await ask('/v1/tools/safe_bash/execute', all(), { body: { input: 'pwd' } }),
    ];
    expect(failures.map(({ status, json }) => [status, json.data.error_code])).toEqual([
      [404, 'TOOL_NOT_FOUND'],
      [400, 'ARGS_INVALID'],
      [403, 'PERMISSION_DENIED'],
      [400, 'ARGS_INVALID'],
    ]);
    expect(failures[3]?.text).toContain('the body names no project');
    for (const { text } of failures) checkedEnvelope(text);
  });

  it('API-3: lists the tools of a project, and those of contextd without one', async () => {
    const own = await ask(`/v1/tools?project=${encodeURIComponent(at.project)}`, all());
    expect(own.json).toMatchObject({ tools: expect.arrayContaining([expect.objectContaining({ name: 'safe_bash' })]) });
    expect((await ask('/v1/tools', all())).status).toBe(200);
    expect((await ask('/v1/tools?project=/nowhere', all())).json.data.error_code).toBe('NOT_FOUND');
  });

  it('API-3: reports its health, and tests its parts if asked to', { timeout: 90_000 }, async () => {
    expect((await ask('/v1/health', all())).json).toMatchObject({
      healthy: true,
      isolation: expect.any(String),
      checks: [],
    });
    const checked = await ask('/v1/health?checks=true', all());
    expect(checked.json.checks).toContainEqual(
      expect.objectContaining({ name: 'scrubber masks a canary', status: 'ok' }),
    );
  });

  it('API-3: searches memories and saves a checkpoint, as calls of their tools', async () => {
    const stored = { title: 'Sail home', outcome: 'success', content: 'reef early when the wind grows' };
    const memory = await ask('/v1/tools/memory_store/execute', all(), call(stored));
    expect(memory.json).toMatchObject({ success: true });
    const found = await ask('/v1/memory/search', all(), call('reef early'));
    expect(found.status).toBe(200);
    expect(found.text).toContain('mem_');
    const saved = await ask('/v1/checkpoint/save', all(), call({ name: 'over http' }));
    expect(saved.json).toMatchObject({ success: true });
    expect((await records()).slice(-2)).toMatchObject([{ tool: 'memory_search' }, { tool: 'checkpoint_save' }]);
  });

  it('issue 36.6: counts calls for Prometheus, with the waits for a turn, the journal and a sandbox', async () => {
    const { text, headers } = await ask('/metrics', all());
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toMatch(/^contextd_calls_total\{tool="safe_bash",result="ok"\} [1-9]/m);
    for (const step of ['slot', 'journal', 'scrub', '(?:new|ready)_sandbox'])
      expect(text).toMatch(
        new RegExp(`^contextd_step_duration_seconds_bucket\\{step="${step}",le="\\+Inf"\\} [1-9]`, 'm'),
      );
    expect(text).toMatch(/^contextd_answers_from_cache_total 0$/m);
    expect(text).toMatch(/^contextd_call_duration_seconds_bucket\{tool="safe_bash",le="\+Inf"\} [1-9]/m);
    expect(text).toMatch(/^contextd_connections\{door="http"\} [1-9]/m);
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{.*\})? [\d.e+-]+)$/);
  });
});

describe('issue 32.4 a real call', () => {
  it('ends with its request: the command is gone, and CANCELLED is on record', async () => {
    const client = new AbortController();
    const mark = `61.${process.pid}`;
    const asked = ask('/v1/tools/safe_bash/execute', all(), { ...call(`sleep ${mark}`), signal: client.signal });
    await expect.poll(() => processesNamed(`sleep ${mark}`), { timeout: 15_000 }).not.toEqual([]);
    client.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => processesNamed(`sleep ${mark}`), { timeout: 15_000 }).toEqual([]);
    await expect
      .poll(async () => (await records()).at(-1), { timeout: 15_000 })
      .toMatchObject({ error_code: 'CANCELLED' });
  }, 60_000);

  it('is an event when it starts and when it ends, with its secrets masked', async () => {
    const response = await fetch(`${url}/events`, { headers: { authorization: `Bearer ${all()}` } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const secret = `ghp_${'a1B2c3D4e5F6g7H8i9'.repeat(2)}`;
    await ask('/v1/tools/safe_bash/execute', all(), call({ command: `echo ${secret}`, cwd: '.' }));
    let text = '';
    while (reader !== undefined && !text.includes('"began":true')) text += (await reader.read()).value ?? '';
    await reader?.cancel();
    expect(text).toMatch(/event: call\ndata: .*"kind":"started"/);
    expect(text).toMatch(/event: call\ndata: .*"exit_code":0.*"began":true/);
    expect(text).not.toContain(secret);
  }, 30_000);
});

describe('issue 32.2 a token', () => {
  it('is masked in what a command prints', async () => {
    const { data } = await at.ask('safe_bash', { command: `echo token ${all()}` });
    expect(data.stdout).toMatch(/^token \[SECRET_\d+\]\n$/);
  });

  it('and the door are out of the reach of a sandbox', async () => {
    await at.run(CTXD, ['http', 'token']);
    const port = url.split(':').at(-1);
    const command = `(echo >/dev/tcp/127.0.0.1/${port}) 2>&1; cat ${at.home}/config/http/default.json 2>&1; true`;
    const { data } = await at.ask('safe_bash', { command: `bash -c '${command}'` });
    expect(data.stdout).toContain('refused');
    expect(data.stdout).toContain('No such file');
  });
});

describe('issue 32.1 what a token may do', () => {
  it.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s follows its row, for every set of permissions and every scope',
    async (_title, route) => {
      const results = new Map<string, number>();
      for (const [name, token] of tokens) results.set(name, await statusOf(route, token));
      const expected = [...tokens.keys()].map((name) => [name, mayCall(route, name) ? 'served' : 403]);
      expect([...results].map(([name, status]) => [name, [401, 403].includes(status) ? status : 'served'])).toEqual(
        expected,
      );
      for (const token of [null, 'ctxd_unknown', `${all()}x`])
        expect([token, (await statusOf(route, token)) === 401]).toEqual([token, route.permission !== null]);
    },
    60_000,
  );

  /** What the row of a route says of the token with a name such as `read-decide.own`. */
  function mayCall(route: HttpRoute, name: string): boolean {
    if (route.permission === null) return true;
    const [permissions = '', scope] = name.split('.');
    const coversProject =
      scope === 'machine' || (route.wholeMachine !== true && (scope === 'own' || !takesProject(route)));
    return permissions.split('-').includes(route.permission) && coversProject;
  }

  /** A request that the route takes, about the project, made from its schemas. An event stream has no end: its headers are enough. */
  async function statusOf({ method, path, query = {}, required = [], body }: HttpRoute, token: string | null) {
    const given = Object.entries(query).filter(([name]) => name === 'project' || required.includes(name));
    const sent = new URLSearchParams(
      given.map(([name, schema]): [string, string] => [name, String(sampleOf(name, schema))]),
    );
    const { properties, required: needed } = partsOf(body);
    const fields = Object.entries(properties).filter(([name]) => name === 'project' || needed.includes(name));
    const { status } = await askHttp(url, `${path.replaceAll(/\{\w+\}/g, 'safe_bash')}?${sent}`, {
      token,
      method: path === '/events' ? 'HEAD' : method,
      ...(body === undefined
        ? {}
        : { body: Object.fromEntries(fields.map(([name, one]) => [name, sampleOf(name, one)])) }),
    });
    return status;
  }

  function sampleOf(name: string, schema: unknown): unknown {
    if (name === 'project') return at.project;
    const examples = isJsonObject(schema) && Array.isArray(schema.examples) ? schema.examples : [];
    if (examples.length === 0) throw new Error(`the schema of ${name} has no example`);
    return examples[0];
  }

  function takesProject({ query = {}, body }: HttpRoute): boolean {
    return 'project' in query || 'project' in partsOf(body).properties;
  }

  function partsOf(schema: HttpRoute['body']) {
    const { properties = {}, required = [] } = schema ?? {};
    return {
      properties: isJsonObject(properties) ? properties : {},
      required: Array.isArray(required) ? required : [],
    };
  }

  it('a token for one project means that project, and a call for another one is refused and on record', async () => {
    const own = tokens.get('read-execute-decide.own') ?? '';
    const implied = await ask('/v1/tools/safe_bash/execute', own, { body: { input: 'pwd' } });
    expect(implied.json.data).toMatchObject({ stdout: `${at.project}\n` });
    const foreign = await ask('/v1/tools/safe_bash/execute', own, { body: { project: other, input: 'pwd' } });
    expect([foreign.status, foreign.json.data.error_code]).toEqual([403, 'PERMISSION_DENIED']);
    expect((await records()).at(-1)).toMatchObject({
      door: 'http',
      token: 'read-execute-decide.own',
      error_code: 'PERMISSION_DENIED',
    });
  });

  it('issue 32.2 the file of a token is 0600 in 0700, and the daemon keeps only a hash', async () => {
    const file = join(at.home, 'config/http/default.json');
    const printed = await at.run(CTXD, ['http', 'token']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(at.home, 'config/http')).mode & 0o777).toBe(0o700);
    const content = JSON.parse(readFileSync(file, 'utf8'));
    expect(content).toMatchObject({ name: 'default', url, token: printed.stdout.trim() });
    expect(at.filesHolding(content.token)).toEqual([file]);
    expect((await at.run(CTXD, ['http', 'token'])).stdout).toBe(printed.stdout);
  });

  it('ends when it is replaced, revoked or expired', async () => {
    const first = (await at.run(CTXD, ['http', 'token', '--name', 'short'])).stdout.trim();
    expect((await ask('/v1/health', first)).status).toBe(200);
    const second = (
      await at.run(CTXD, ['http', 'token', '--name', 'short', '--rotate', '--expires', '1s'])
    ).stdout.trim();
    expect((await ask('/v1/health', first)).status).toBe(401);
    await expect.poll(async () => (await ask('/v1/health', second)).status, { timeout: 10_000 }).toBe(401);
    const expired = await at.run(CTXD, ['http', 'token', '--name', 'short']);
    expect(expired).toMatchObject({ code: 1, stdout: '' });
    const [, remedy] = /`ctxd (.*)`/.exec(expired.stderr) ?? [];
    const third = (await at.run(CTXD, [...(remedy ?? '').split(' '), '--expires', '1h'])).stdout.trim();
    expect((await ask('/v1/health', third)).status).toBe(200);
    expect((await at.run(CTXD, ['http', 'revoke', 'short'])).code).toBe(0);
    expect((await ask('/v1/health', third)).status).toBe(401);
    expect((await at.run(CTXD, ['http', 'revoke', 'short'])).code).toBe(1);
  });

  it('keeps what it may do until a person replaces it', async () => {
    await at.run(CTXD, ['http', 'token', '--name', 'kept', '--allow', 'read']);
    const changed = await at.run(CTXD, ['http', 'token', '--name', 'kept', '--allow', 'decide']);
    expect(changed).toMatchObject({ code: 1, stdout: '' });
    expect(changed.stderr).toContain('--rotate');
    const wrong = await at.run(CTXD, ['http', 'token', '--name', 'x', '--allow', 'everything']);
    expect(wrong.code).toBe(2);
    const { stdout } = await at.run(CTXD, ['http', 'tokens']);
    expect(stdout).toMatch(/^kept\tread\tall\t/m);
  });

  it('stays as narrow when it is replaced, so that a routine rotation gives a program nothing new', async () => {
    const narrow = ['--name', 'narrow', '--allow', 'execute', '--project', at.project, '--expires', '30d'];
    const first = (await at.run(CTXD, ['http', 'token', ...narrow])).stdout.trim();
    const made = await tokenNamed('narrow');
    const second = (await at.run(CTXD, ['http', 'token', '--name', 'narrow', '--rotate'])).stdout.trim();
    const rotated = await tokenNamed('narrow');
    expect(second).not.toBe(first);
    expect(rotated).toMatchObject({ permissions: ['execute'], root: at.project });
    expect(lifetimeDays(rotated)).toBe(lifetimeDays(made));
    expect(rotated.made_ms).toBeGreaterThan(made.made_ms);

    await at.run(CTXD, ['http', 'token', '--name', 'narrow', '--rotate', '--allow', 'read', '--expires', '7d']);
    const changed = await tokenNamed('narrow');
    expect(changed).toMatchObject({ permissions: ['read'], root: at.project });
    expect(lifetimeDays(changed)).toBe(7);
    await at.run(CTXD, ['http', 'token', '--name', 'narrow', '--rotate', '--project', other]);
    const moved = await tokenNamed('narrow');
    expect(moved).toMatchObject({ permissions: ['read'], root: other });
    expect(lifetimeDays(moved)).toBe(7);
  });

  it('is not made by the replacement of a misspelt name, which is answered with near names', async () => {
    await at.run(CTXD, ['http', 'token', '--name', 'deploy', '--allow', 'read']);
    const near = await at.run(CTXD, ['http', 'token', '--name', 'deplay', '--rotate']);
    expect(near).toMatchObject({ code: 1, stdout: '' });
    expect(near.stderr).toMatch(/there is no token "deplay" to replace[\s\S]*Did you mean deploy\?/);
    const far = await at.run(CTXD, ['http', 'token', '--name', 'unlike-any-other', '--rotate', '--json']);
    expect(far.stdout + far.stderr).toContain('NOT_FOUND');
    const { stdout } = await at.run(CTXD, ['http', 'tokens']);
    expect(stdout).not.toMatch(/^(?:deplay|unlike-any-other)\t/m);
  });

  it('with the default name is replaced, and is made if there was none', async () => {
    await at.run(CTXD, ['http', 'token']);
    await at.run(CTXD, ['http', 'revoke', 'default']);
    const first = (await at.run(CTXD, ['http', 'token', '--rotate'])).stdout.trim();
    const second = (await at.run(CTXD, ['http', 'token', '--rotate'])).stdout.trim();
    expect([(await ask('/v1/health', first)).status, (await ask('/v1/health', second)).status]).toEqual([401, 200]);
    expect(await tokenNamed('default')).toMatchObject({ permissions: ['read', 'execute'], root: '', expires_ms: 0 });
  });

  interface ListedToken {
    name: string;
    made_ms: number;
    expires_ms: number;
  }

  async function tokenNamed(name: string): Promise<ListedToken> {
    const listed: ListedToken[] = JSON.parse((await at.run(CTXD, ['http', 'tokens', '--json'])).stdout);
    const found = listed.find((one) => one.name === name);
    if (found === undefined) throw new Error(`no token ${name} is listed`);
    return found;
  }

  /** The client and the daemon read the clock a moment apart. */
  function lifetimeDays({ made_ms, expires_ms }: ListedToken): number {
    return Math.round((expires_ms - made_ms) / 86_400_000);
  }
});
