import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTool } from '@contextd/sdk/test';
import { tool } from './tool.ts';

const run = (text: string) => runTool(tool, { text }, { workspace: process.cwd() });

test('counts words and lines', async () => {
  const { output } = await run('one two\nthree');
  assert.deepEqual(output.data, { words: 3, lines: 2 });
});

test('refuses what its schema refuses', async () => {
  await assert.rejects(run('x'.repeat(20_001)), { code: 'ARGS_INVALID' });
});
