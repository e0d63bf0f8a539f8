import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { build } from 'esbuild';
import ts from 'typescript';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_TABLE } from '#src/core/errors.js';
import { isJsonObject } from '#src/core/json.js';
import { ROUTES } from '#src/doors/http/routes.js';
import { openHttpDoor, type TestHttpDoor, TOKEN } from '../helpers/http-door.ts';
import { ROOT } from '../helpers/installation.ts';

let at: TestHttpDoor;
let description: Record<string, unknown>;
beforeAll(async () => {
  at = await openHttpDoor();
  description = (await at.ask('/openapi.json')).json;
});
afterAll(() => at.remove());

/** Checks a copy, because the validator writes into what it gets. */
const validated = (document: Record<string, unknown>) => new Validator().validate(structuredClone(document));

/** Every JSON Schema of the description: those of the components, and the value of each `schema`. */
function schemasIn(value: unknown, key = ''): (object | boolean)[] {
  if (Array.isArray(value)) return value.flatMap((one) => schemasIn(one));
  if (!isJsonObject(value)) return [];
  const own = key === 'schema' ? [value] : key === 'schemas' ? Object.values(value).filter(isJsonObject) : [];
  return [...own, ...Object.entries(value).flatMap(([name, one]) => schemasIn(one, name))];
}

const described = (): string[] =>
  Object.entries(description.paths ?? {}).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
const rows = ROUTES.map(({ method, path }) => `${method} ${path}`);

describe('issue 32.1 /openapi.json', () => {
  it('describes every route, and nothing else', () => {
    expect(description.openapi).toBe('3.1.0');
    expect(described().toSorted()).toEqual(rows.toSorted());
  });

  it('is valid by the meta-schema of OpenAPI 3.1, and each schema in it by that of JSON Schema 2020-12', async () => {
    expect(await validated(description)).toMatchObject({ valid: true });
    const schemas = schemasIn(description);
    expect(schemas.length).toBeGreaterThan(ROUTES.length);
    const ajv = new Ajv2020();
    expect(schemas.filter((schema) => ajv.validateSchema(schema) !== true)).toEqual([]);
  });

  it.each([
    ['info', { title: 'contextd' }],
    ['openapi', '3.1'],
    ['paths', { 'v1/health': {} }],
    ['paths', { '/v1/health': { get: { parameters: [{ name: 'checks', in: 'query' }], responses: {} } } }],
    ['components', { securitySchemes: { bearer: { type: 'bearer' } } }],
  ])('would be refused by it with another %s', async (field, value) => {
    expect((await validated({ ...description, [field]: value })).valid).toBe(false);
  });

  it('every route that it describes is served, and no other method or path is', async () => {
    for (const [path, methods] of Object.entries(description.paths ?? {})) {
      for (const method of ['GET', 'POST']) {
        const { json } = await at.ask(path.replace('{tool}', 'safe_bash').replace('/events', '/events?x=1'), {
          method,
          ...(method === 'POST' ? { body: 'no JSON' } : {}),
        });
        const isServed = !String(json.error).startsWith('there is no route');
        expect({ path, method, isServed }).toEqual({ path, method, isServed: method.toLowerCase() in methods });
      }
    }
    expect((await at.ask('/v1')).json.data.error_code).toBe('NOT_FOUND');
  });

  it('refers to schemas that are there, and lists the error codes of the table', () => {
    const text = JSON.stringify(description);
    const components = isJsonObject(description.components) ? description.components.schemas : {};
    const names = Object.keys(isJsonObject(components) ? components : {});
    const used = new Set([...text.matchAll(/#\/components\/schemas\/(\w+)/g)].map(([, name = '']) => name));
    expect([...used].toSorted()).toEqual(names.toSorted());
    for (const code of Object.keys(ERROR_TABLE)) expect(text).toContain(`"${code}"`);
  });

  it('and docs/http.md name the same routes and permissions', () => {
    const document = readFileSync(join(ROOT, 'docs/http.md'), 'utf8');
    const named = [...document.matchAll(/^\| `(GET|POST|DELETE) ([^`?]+)[^`]*` \| ([^|]+) \|/gm)].map(
      ([, method, path, may]) => `${method} ${path} ${may}`,
    );
    const known = ROUTES.map(
      ({ method, path, permission, wholeMachine }) =>
        `${method} ${path} ${permission ?? 'none'}${wholeMachine === true ? ', machine' : ''}`,
    );
    expect(named.toSorted()).toEqual(known.toSorted());
  });
});

const USE = `
import { createClient } from './client/client/index.ts';
import { getV1Health, getV1Tools, getV1Proof, postV1ToolsToolExecute } from './client/index.ts';

export async function use(baseUrl: string, token: string) {
  const client = createClient({ baseUrl, auth: token });
  const health = await getV1Health({ client, throwOnError: true });
  const tools = await getV1Tools({ client, query: { project: '/p' }, throwOnError: true });
  const proof = await getV1Proof({ client, query: { nonce: 'ab'.repeat(16) }, throwOnError: true });
  const body = { project: '/p', input: { command: 'true' } };
  const called = await postV1ToolsToolExecute({ client, path: { tool: 'safe_bash' }, body, throwOnError: true });
  const refused = await postV1ToolsToolExecute({ client, path: { tool: 'x' }, body: { input: 'x', cwd: 'y'.repeat(5000) } });
  const names: string[] = tools.data.tools.map((tool) => tool.name);
  const healthy: boolean = health.data.healthy;
  const code: string | undefined = refused.error?.data.error_code;
  return { healthy, names, proof: proof.data.proof, success: called.data.success, data: called.data.data, code };
}
`;

describe('issue 32 a client that is generated from /openapi.json', () => {
  let dir: string;
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('API-3: compiles in strict mode and calls the routes', { timeout: 120_000 }, async () => {
    // Below the packages, so that it finds the types of Node.
    dir = mkdtempSync(join(ROOT, 'node_modules', '.http-client-'));
    writeFileSync(join(dir, 'openapi.json'), JSON.stringify(description));
    await createClient({
      input: join(dir, 'openapi.json'),
      output: { path: join(dir, 'client'), module: { extension: '.ts' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
      logs: { level: 'silent' },
    });
    const entry = join(dir, 'use.ts');
    writeFileSync(entry, USE);
    const program = ts.createProgram([entry], {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
    });
    const faults = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
    expect(faults).toEqual([]);
    const outfile = join(dir, 'use.mjs');
    await build({ entryPoints: [entry], bundle: true, format: 'esm', platform: 'node', outfile, logLevel: 'silent' });
    const { use } = await import(pathToFileURL(outfile).href);
    expect(await use(at.url, TOKEN)).toMatchObject({
      healthy: true,
      names: [],
      proof: expect.stringMatching(/^[0-9a-f]{64}$/),
      success: true,
      data: { tool: 'safe_bash', projectRoot: '/p' },
      code: 'ARGS_INVALID',
    });
  });
});
