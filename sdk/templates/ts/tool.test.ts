import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTool } from '@contextd/sdk/test';
import { tool } from './tool.ts';

const run = (city: string) => runTool(tool, { city }, { workspace: process.cwd() });

test('tells where a city is', async () => {
  const { output } = await run('Oslo');
  assert.deepEqual(output.data, { city: 'Oslo', latitude: 59.91, longitude: 10.75 });
});

test('refuses a city that it does not know, and what its schema refuses', async () => {
  await assert.rejects(run('Atlantis'), { code: 'NOT_FOUND' });
  await assert.rejects(run('x'.repeat(201)), { code: 'ARGS_INVALID' });
});
