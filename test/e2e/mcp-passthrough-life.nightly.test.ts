import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildConformanceServer } from '../helpers/demo-server.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { connectAsked, ERAS, newClient, RawServer, stdioTransport, textOf } from '../helpers/mcp-client.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

let at: Installation;
let programs: string;

beforeAll(async () => {
  programs = realpathSync(mkdtempSync(join(tmpdir(), 'passthrough-')));
  at = await install();
  const server = await buildConformanceServer(programs);
  const words = ['upstream', 'add', 'both', '--path', programs, '--yes', '--', 'node', server];
  const { code, stderr } = await at.run(CTXD, words);
  if (code !== 0) throw new Error(stderr);
});

afterAll(async () => {
  await at?.remove();
  rmSync(programs, { recursive: true, force: true });
});

const PASSTHROUGH = ['--surface', 'passthrough'];

/** The ids of processes on this machine that run the server. */
function serverProcesses(): string[] {
  return readdirSync('/proc').filter((id) => {
    if (!/^\d+$/.test(id)) return false;
    try {
      return readFileSync(`/proc/${id}/cmdline`, 'utf8').includes(programs);
    } catch {
      // It has ended since.
      return false;
    }
  });
}

async function killDaemon(): Promise<void> {
  process.kill((await at.status()).pid, 'SIGKILL');
}

it.each(ERAS)('issue 34: over stdio a client of %s learns that a list of a server changed', async (era) => {
  const changed = Promise.withResolvers<void>();
  const onChanged = (): void => changed.resolve();
  const client = newClient(era, {}, { prompts: { autoRefresh: false, debounceMs: 0, onChanged } });
  await client.connect(stdioTransport(at, PASSTHROUGH));
  await client.listPrompts();
  await client.callTool({ name: 'test_trigger_prompt_change', arguments: {} });
  await changed.promise;
  await client.close();
});

it.each(ERAS)('issue 34: over stdio a client of %s keeps its connection when the daemon is killed', async (era) => {
  const { client, questions } = await connectAsked(era, stdioTransport(at, PASSTHROUGH));
  const resources = async () => (await client.listResources()).resources.map(({ uri }) => uri);
  const before = await resources();
  await killDaemon();
  const asked = await client.callTool({ name: 'test_input_required_result_multi_round', arguments: {} });
  expect(textOf(asked)).toBe('Multi-round complete: Ann likes Ann');
  expect(questions).toHaveLength(2);
  // Each start of a daemon takes seconds, so outside of `npm run nightly` one kind of request is tried for each client.
  if (AT_NIGHT || era === '2025-11-25') {
    await killDaemon();
    expect(await resources()).toEqual(before);
  }
  if (AT_NIGHT || era === '2026-07-28') {
    await at.run(CTXD, ['server', 'stop']);
    const { messages } = await client.getPrompt({ name: 'test_simple_prompt' });
    expect(messages).toHaveLength(1);
  }
  await client.close();
});

it('issue 34: after a restart of the daemon a server has the subscriptions and the level of logging of its client again', async () => {
  const client = newClient('2025-11-25');
  const updates: string[] = [];
  const logged: unknown[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updates.push(params.uri));
  client.setNotificationHandler('notifications/message', ({ params }) => void logged.push(params.data));
  await client.connect(stdioTransport(at, PASSTHROUGH));
  await client.subscribeResource({ uri: 'test://watched-resource' });
  await client.subscribeResource({ uri: 'test://static-text' });
  await client.unsubscribeResource({ uri: 'test://static-text' });
  await client.setLoggingLevel('error');
  await expect.poll(() => updates).toHaveLength(2);
  const restarted = await at.run(CTXD, ['server', 'restart']);
  expect(restarted.stderr).toBe('');
  await client.listPrompts();
  // The server says that a resource changed whenever it is subscribed to.
  await expect
    .poll(() => updates)
    .toEqual(['test://watched-resource', 'test://static-text', 'test://watched-resource']);
  await client.callTool({ name: 'test_logging_tool', arguments: {} });
  expect(logged).toEqual([]);
  await client.setLoggingLevel('info');
  await client.callTool({ name: 'test_logging_tool', arguments: {} });
  expect(logged).toEqual(['test_logging_tool ran']);
  await client.close();
});

it('NFR-2.3: a client answers a question that its server asked before the daemon was replaced twice', async () => {
  const server = new RawServer(at, PASSTHROUGH);
  await server.initialize({ elicitation: {} });
  server.call(1, 'test_input_required_result_elicitation', {});
  const question = await server.next(({ method }) => method === 'elicitation/create');
  for (let restarts = 0; restarts < 2; restarts++) {
    const restarted = await at.run(CTXD, ['server', 'restart']);
    expect(restarted.stdout + restarted.stderr).toContain('1 call carried on');
  }
  server.send({ id: question.id ?? '', result: { action: 'accept', content: { name: 'Ann' } } });
  const { result } = await server.answer(1);
  expect(JSON.stringify(result)).toContain('Ann');
  expect(result).not.toMatchObject({ isError: true });
  await server.close();
});

it('NFR-2.3: a client of the newest revision answers a question that its server asked before the daemon was replaced', async () => {
  const servers = join(import.meta.dirname, '../fixtures/mcp-servers');
  const words = ['upstream', 'add', 'modern', '--path', servers, '--yes', '--', 'node'];
  const added = await at.run(CTXD, [...words, join(servers, 'asking.mjs'), 'modern', '2026']);
  expect(added, added.stderr).toMatchObject({ code: 0 });
  const client = newClient('2026-07-28', { elicitation: { form: {} } });
  client.setRequestHandler('elicitation/create', async () => {
    const restarted = await at.run(CTXD, ['server', 'restart']);
    expect(restarted).toMatchObject({ code: 0 });
    return { action: 'accept', content: { name: 'Ann' } };
  });
  await client.connect(stdioTransport(at, PASSTHROUGH));
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
  const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Who?', requestedSchema } };
  const _meta = { 'test.example.com/ask': question };
  const asked = await client.callTool({ name: 'tool_modern', arguments: {}, _meta });
  expect(textOf(asked)).toContain('"name":"Ann"');
  await client.close();
  expect(await at.run(CTXD, ['upstream', 'remove', 'modern'])).toMatchObject({ code: 0 });
});

it('issue 34: when the daemon is killed the call ends with INTERRUPTED, and the question of its server is withdrawn', async () => {
  const server = new RawServer(at, PASSTHROUGH);
  await server.initialize({ elicitation: {} });
  server.call(1, 'test_input_required_result_elicitation', {});
  const question = await server.next(({ method }) => method === 'elicitation/create');
  await killDaemon();
  expect((await server.answer(1)).result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('the connection to the daemon was lost') }],
  });
  const withdrawn = await server.next(({ method }) => method === 'notifications/cancelled');
  expect(withdrawn.params).toMatchObject({ requestId: question.id });
  server.send({ id: question.id ?? '', result: { action: 'decline' } });
  server.call(2, 'test_simple_text', {});
  expect((await server.answer(2)).result).toMatchObject({
    content: [{ text: expect.stringContaining('simple text') }],
  });
  await server.close();
});

it('issue 34: the processes of servers of a client end with it', async () => {
  // No process of an earlier test is left.
  await at.run(CTXD, ['server', 'stop']);
  const { client } = await connectAsked('2025-11-25', stdioTransport(at, PASSTHROUGH));
  await client.listResources();
  expect(serverProcesses()).not.toEqual([]);
  await client.close();
  await expect.poll(serverProcesses, { timeout: 20_000 }).toEqual([]);
});

it('issue 34: arguments that are nested too deeply are refused, and the next request is answered', async () => {
  const server = new RawServer(at, PASSTHROUGH);
  await server.initialize();
  const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  const call = (id: number, depth: number) =>
    server.write(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"test_x_mcp_header","arguments":${deep(depth)}}}`,
    );
  call(1, 100_000);
  call(2, 1_000);
  for (const id of [1, 2]) {
    const { result, error } = await server.answer(id);
    expect(JSON.stringify(result ?? error)).toContain('nested');
  }
  server.call(3, 'test_simple_text', {});
  expect((await server.answer(3)).result).toMatchObject({ content: [{ type: 'text' }] });
  await server.close();
});
