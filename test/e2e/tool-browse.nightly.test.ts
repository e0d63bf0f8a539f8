import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';

let at: Installation;
let daemon: DaemonCaller;

beforeAll(async () => {
  at = await install({ warm: true });
  daemon = await openCaller(at, 'browse');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const sh = (line: string) => at.run('/bin/sh', ['-c', line]);

it('FR-1.1 an agent finds a tool by its link, in words and as JSON, and reads its schema', async () => {
  const found = await sh(`.claude/tools/tool_browse/tool_browse 'run a command'`);
  expect(found).toMatchObject({ code: 0, stderr: '' });
  expect(found.stdout).toMatch(/^contextd:safe_bash@1\.0\.0 .*- Run /);
  const { data } = await at.ask('tool_browse', { query: 'run a command', top_k: 1 });
  expect(data.cards).toEqual([expect.objectContaining({ id: 'contextd:safe_bash@1.0.0', has_schema: true })]);
  const hydrated = await at.ask('tool_hydrate', { tool_id: 'contextd:safe_bash@1.0.0' });
  expect(hydrated.data).toMatchObject({ call: 'safe_bash', schema: { 'x-contextd-primary': 'command' } });
});

it('a mistake is answered in the shape of gateways, inside the usual envelope, and is recorded', async () => {
  const { envelope, exitCode } = await daemon.call('tool_browse', { path: '/nowhere' });
  expect(exitCode).toBe(1);
  expect(envelope).toMatchObject({
    success: false,
    data: {
      error: 'PATH_NOT_FOUND',
      message: envelope.error,
      path: '/nowhere',
      retryable: false,
      details: { path: '/nowhere' },
      error_code: 'PATH_NOT_FOUND',
    },
  });
  const neither = await sh('.claude/tools/tool_browse/tool_browse --top-k 3');
  expect(neither.code).toBe(2);
  expect(neither.stderr).toContain('tool_browse needs a query or a path');
  const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json']);
  expect(stdout).toContain('"tool":"tool_browse"');
});

it('a tool is found as soon as a person installed it, and no longer after it was removed', async () => {
  makeTool(join(at.project, 'src', 'tides'), { name: 'tides', script: `#!/bin/sh\nprintf '{}'\n` });
  const browse = async () => (await daemon.call('tool_browse', { path: '/installed' })).envelope;
  expect((await browse()).data).toMatchObject({ error: 'PATH_NOT_FOUND' });
  const installed = await at.run(CTXD, ['tool', 'install', './src/tides', '--yes']);
  expect(installed, installed.stderr).toMatchObject({ code: 0 });
  const { data } = await browse();
  expect(data.cards).toEqual([expect.objectContaining({ id: expect.stringMatching(/^installed:tides@/) })]);
  expect(await at.run(CTXD, ['tool', 'remove', 'tides', '--yes'])).toMatchObject({ code: 0 });
  expect((await daemon.call('tool_hydrate', { tool_id: 'tides' })).envelope.data).toMatchObject({
    error: 'HYDRATE_FAILED',
  });
});

const route = (...words: string[]) => at.run(CTXD, ['route', ...words]);

it('issue 33.4 a person sees the cards, the reasons and the tree that agents browse', async () => {
  const cards = JSON.parse((await route('browse', 'run a command', '--json')).stdout);
  const { data } = await at.ask('tool_browse', { query: 'run a command' });
  expect(cards).toEqual({ cards: data.cards });
  expect(JSON.parse((await route('browse', '/contextd', '--json')).stdout)).toEqual({
    cards: (await at.ask('tool_browse', { path: '/contextd' })).data.cards,
  });
  expect((await route('explain', 'run a command', 'safe_bash')).stdout).toMatch(/^1\. contextd:safe_bash@1\.0\.0 /);
  expect((await route('print-tree')).stdout).toContain('\n    safe_bash  contextd:safe_bash@1.0.0\n');
  expect(await route('browse', '/nowhere')).toMatchObject({ code: 1 });
  expect(await route('browse', '/nowhere/')).toMatchObject({ code: 2 });
  const unknown = await at.run(CTXD, ['route', 'browse', '--project', at.home]);
  expect(unknown.code).not.toBe(0);
});

it('issue 33.6 what ran after a browse ranks later browses, without the secrets of the query, until the project is forgotten', async () => {
  const secret = `ghp_${Array.from({ length: 36 }, (_, i) => ((i * 7 + 11) % 36).toString(36)).join('')}`;
  const browse = async () => (await daemon.call('tool_browse', { query: 'zebra quokka' })).envelope.data;
  expect(await browse()).toEqual({ cards: [] });
  await daemon.call('tool_browse', { query: `run a command on the zebra quokka ${secret}` });
  await daemon.call('safe_bash', { command: 'true' });
  await vi.waitFor(async () => {
    expect(await browse()).toMatchObject({ cards: [{ id: 'contextd:safe_bash@1.0.0' }] });
  });
  // Every part of the secret is a word of this query, and none of them was learned.
  const { why } = JSON.parse((await route('explain', `quokka ${secret}`, 'safe_bash', '--json')).stdout);
  expect(why[0].words).toEqual([{ word: 'quokka', found: '', fields: [], share: 1 }]);
  const explained = await route('explain', 'zebra quokka');
  expect(explained.stdout).toContain('zebra: executed after it');
  expect(explained.stdout).toMatch(/× 1\.0\d+ for earlier use/);
  expect(await at.run(CTXD, ['server', 'restart'])).toMatchObject({ code: 0 });
  expect((await route('explain', 'zebra quokka')).stdout).toBe(explained.stdout);
  expect(await at.run(CTXD, ['init', '--uninstall', '--yes'])).toMatchObject({ code: 0 });
  expect(await at.run(CTXD, ['init', '--yes'])).toMatchObject({ code: 0 });
  expect((await route('explain', 'zebra quokka')).stdout).toContain('No tool has a word of it');
});
