import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
  expect(neither.stderr).toContain('either query or path, not neither');
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
