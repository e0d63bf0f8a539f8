import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planImport } from '#src/cli/upstream/plan-import.js';

let directory: string;
let root: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'plan-import-'));
  root = join(directory, 'project');
  mkdirSync(join(root, 'tools'), { recursive: true });
  mkdirSync(join(directory, 'home'));
  for (const path of ['srv.mjs', 'node', 'tools/srv.mjs', '../outside.mjs']) writeFileSync(join(root, path), '');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function projectOf(command: string, args: readonly string[]): string | undefined {
  writeFileSync(join(root, '.mcp.json'), JSON.stringify({ mcpServers: { one: { command, args } } }));
  const context = { env: { home: join(directory, 'home') } };
  const { servers } = planImport(context, root, { taken: [], bound: [], by: 'ann' });
  return servers[0]?.request.project;
}

describe('issue 34 an imported server', () => {
  const read: readonly [command: string, args: readonly string[]][] = [
    ['node', ['srv.mjs']],
    ['node', ['./srv.mjs']],
    ['node', ['tools/srv.mjs']],
    ['node', ['--import=srv.mjs', 'other']],
    ['tools/srv.mjs', []],
    ['serve', ['.']],
  ];
  it.each(read)('issue 34 reads the project if an argument is a file there: %s %j', (command, args) => {
    expect(projectOf(command, args)).toBe('read');
  });

  const nothing: readonly [command: string, args: readonly string[]][] = [
    // A program is looked up in the PATH, not in the project.
    ['node', []],
    ['node', ['no-such-file.mjs']],
    ['node', ['../outside.mjs']],
    ['node', ['tools']],
    ['npx', ['-y', 'tracker']],
  ];
  it.each(nothing)('issue 34 sees nothing of the project if none is: %s %j', (command, args) => {
    expect(projectOf(command, args)).toBe('none');
  });
});
