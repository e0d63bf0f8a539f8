import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: false });
});
afterAll(() => at.remove());

it('FR-2.2 ctxd init names in each sentence only the clients that it has set up', async () => {
  const file = join(at.project, '.claude', 'settings.json');
  rmSync(file, { force: true });
  mkdirSync(join(at.project, '.claude'), { recursive: true });
  writeFileSync(file, '{"a":1,,}');
  const { code, stdout } = await at.run(CTXD, [
    'init',
    at.project,
    '--shell',
    '--no-client',
    '--no-toolchains',
    '--no-network',
  ]);
  expect(code).toBe(1);
  expect(stdout).toContain(`Claude Code is not set up: ${file} cannot be read (not JSON`);
  expect(stdout).toContain('contextd is the shell of OpenCode in this project');
  expect(stdout).not.toMatch(/shell of Claude Code|Claude Code applies/);
});
