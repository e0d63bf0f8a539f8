import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ToolCheck } from '#src/catalog/verify-tool/check.js';
import { verifyDirectory } from '#src/catalog/verify-tool/verify-directory.js';
import { loadCounter } from '#src/tokens/counter.js';

export const PROXY = '/opt/contextd/bin/contextd-proxy';
const counter = loadCounter();
export const countTokens = (text: string): number => counter.count(text);

export const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { path: { type: 'string', pattern: '^[a-z]+$' } },
  required: ['path'],
  additionalProperties: false,
};

export const TOOL_MD = [
  '# good_tool',
  '> Do one thing.',
  '',
  '**Use**: for that',
  '**Not**: anything else → `safe_bash`',
  '**Limits**: none',
  '**Ref**: `TOOL_EXTENDED.md`',
  '',
].join('\n');

export const MANIFEST = {
  name: 'good_tool',
  purpose: 'Do one thing.',
  version: '1.0.0',
  grants: [],
  min_isolation: 'reduced',
};

/** An empty folder below the system's temporary folder, removed when the test ends. */
export async function makeFolder(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'contextd-verify-')));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A tool that passes every rule; `null` leaves a file out. */
export async function makeTool(files: Record<string, string | Buffer | null> = {}, below = ''): Promise<string> {
  const dir = join(await makeFolder(), below, 'good_tool');
  await mkdir(dir, { recursive: true });
  const all = {
    'schema.json': JSON.stringify(SCHEMA),
    'TOOL.md': TOOL_MD,
    'TOOL_EXTENDED.md': 'Takes `path`.\n',
    'tool.json': JSON.stringify(MANIFEST),
    'main.js': '',
    ...files,
  };
  for (const [name, content] of Object.entries(all)) if (content !== null) await writeFile(join(dir, name), content);
  return dir;
}

/** A tool as `ctxd init` leaves it in a project. */
export async function makeInstalledTool(target = PROXY): Promise<string> {
  const dir = await makeTool({ 'tool.json': null, 'main.js': null }, '.claude/tools');
  await symlink(target, join(dir, 'good_tool'));
  return dir;
}

export async function checksOf(dir: string): Promise<readonly ToolCheck[]> {
  const options = { countTokens, searchPath: '/usr/bin:/bin', proxyBinary: PROXY };
  return (await verifyDirectory(dir, options)).report.checks;
}

/** Rule and detail of every failed check. */
export async function faultsOf(dir: string): Promise<Record<string, string>> {
  const failed = (await checksOf(dir)).filter((check) => !check.passed);
  return Object.fromEntries(failed.map(({ rule, detail }) => [rule, detail]));
}
