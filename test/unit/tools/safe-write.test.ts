import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROTECTED_PATHS } from '#src/runner/plugin-link.js';
import { runTool } from '#src/sdk/test-harness.js';
import type { JsonObject } from '#src/sdk/tool.js';
import { safeRead } from '#tools/safe_read/main.js';
import { createSafeWrite } from '#tools/safe_write/main.js';
import { useWorkspace } from './temp-workspace.ts';

const workspace = useWorkspace();
const tool = createSafeWrite();

function at(name: string): string {
  return join(workspace.path, name);
}

async function write(input: JsonObject) {
  const { output } = await runTool(tool, input, { workspace: workspace.path, protectedPaths: PROTECTED_PATHS });
  return output.data;
}

async function etagOf(path: string) {
  const { output } = await runTool(safeRead, { path }, { workspace: workspace.path });
  return output.data.etag ?? null;
}

function leftovers(dir = ''): string[] {
  return readdirSync(at(dir)).filter((name) => name.startsWith('.contextd-'));
}

describe('FR-4.3 safe_write', () => {
  it('creates a file and the directories above it', async () => {
    const data = await write({ path: 'new/deep/a.txt', content: 'héllo' });
    expect(data).toEqual({ path: 'new/deep/a.txt', etag: await etagOf('new/deep/a.txt'), bytes: 6, created: true });
    expect(readFileSync(at('new/deep/a.txt'), 'utf8')).toBe('héllo');
    expect(leftovers('new/deep')).toEqual([]);
  });

  it('overwrites by default, keeps the permissions and does not report a creation', async () => {
    writeFileSync(at('script.sh'), 'old');
    chmodSync(at('script.sh'), 0o751);
    expect(await write({ path: 'script.sh', content: 'new' })).not.toHaveProperty('created');
    expect(readFileSync(at('script.sh'), 'utf8')).toBe('new');
    expect(statSync(at('script.sh')).mode & 0o777).toBe(0o751);
  });

  it('leaves another name of the same file alone', async () => {
    writeFileSync(at('one'), 'old');
    linkSync(at('one'), at('two'));
    await write({ path: 'one', content: 'new' });
    await write({ path: 'one', content: '+', mode: 'append' });
    expect(readFileSync(at('two'), 'utf8')).toBe('old');
    expect(readFileSync(at('one'), 'utf8')).toBe('new+');
  });

  it('writes the target of a link, not the link', async () => {
    mkdirSync(at('real'));
    writeFileSync(at('real/file'), 'old');
    symlinkSync('real/file', at('link'));
    symlinkSync('real/not-yet', at('dangling'));
    await write({ path: 'link', content: 'new' });
    await write({ path: 'dangling', content: 'made' });
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
    expect(readFileSync(at('real/file'), 'utf8')).toBe('new');
    expect(readFileSync(at('real/not-yet'), 'utf8')).toBe('made');
  });

  it('refuses a link that leads out, also through a directory', async () => {
    symlinkSync('/tmp', at('out'));
    symlinkSync('/tmp/contextd-never-made', at('out-file'));
    for (const path of ['out/x', 'out-file', '../x', '/tmp/x'])
      await expect(write({ path, content: 'x' }), path).rejects.toMatchObject({
        code: 'PATH_INVALID',
        message: expect.stringContaining('out of the workspace'),
      });
  });

  it('refuses an existing file in mode create', async () => {
    expect(await write({ path: 'fresh', content: 'a', mode: 'create' })).toMatchObject({ created: true });
    await expect(write({ path: 'fresh', content: 'b', mode: 'create' })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(readFileSync(at('fresh'), 'utf8')).toBe('a');
  });

  it('lets one of many concurrent calls win in mode create', async () => {
    const other = createSafeWrite();
    const both = [tool, other, tool, other].map((one, n) =>
      runTool(one, { path: 'race', content: `${n}`, mode: 'create' }, { workspace: workspace.path }),
    );
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'CONFLICT' });
    expect(leftovers()).toEqual([]);
  });

  it('refuses a stale etag, names both etags, and leaves the file unchanged and no temporary file', async () => {
    await write({ path: 'guarded', content: 'first' });
    const stale = await etagOf('guarded');
    writeFileSync(at('guarded'), 'by someone else');
    const fault = {
      code: 'CONFLICT',
      details: { path: 'guarded', expected_etag: stale, actual_etag: await etagOf('guarded') },
    };
    for (const mode of ['overwrite', 'append'])
      await expect(write({ path: 'guarded', content: 'x', expected_etag: stale, mode })).rejects.toMatchObject(fault);
    expect(readFileSync(at('guarded'), 'utf8')).toBe('by someone else');
    expect(leftovers()).toEqual([]);
  });

  it('accepts the etag that it returned, repeatedly', async () => {
    let { etag } = await write({ path: 'chain', content: 'a' });
    ({ etag } = await write({ path: 'chain', content: 'b', mode: 'append', expected_etag: etag ?? null }));
    ({ etag } = await write({ path: 'chain', content: 'c', mode: 'append', expected_etag: etag ?? null }));
    expect(etag).toBe(await etagOf('chain'));
    expect(readFileSync(at('chain'), 'utf8')).toBe('abc');
  });

  it('refuses an etag for a missing file', async () => {
    await expect(write({ path: 'gone', content: 'x', expected_etag: '0'.repeat(16) })).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { actual_etag: null },
    });
  });

  it('lets one of many calls with the same etag win', async () => {
    await write({ path: 'contended', content: 'start' });
    const etag = await etagOf('contended');
    const writes = Array.from({ length: 8 }, (_, n) =>
      write({ path: 'contended', content: `${n}`, expected_etag: etag }),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('loses none of many concurrent appends', async () => {
    await Promise.all(Array.from({ length: 20 }, () => write({ path: 'log', content: 'line\n', mode: 'append' })));
    expect(readFileSync(at('log'), 'utf8')).toBe('line\n'.repeat(20));
  });

  it('appends to a file larger than a chunk', async () => {
    writeFileSync(at('large'), 'x'.repeat(700_000));
    expect(await write({ path: 'large', content: 'end', mode: 'append' })).toMatchObject({ bytes: 700_003 });
    expect(readFileSync(at('large'), 'utf8')).toBe(`${'x'.repeat(700_000)}end`);
  });

  it.each([
    ['.envrc', '.envrc'],
    ['.claude/settings.json', '.claude'],
    ['.mcp.json', '.mcp.json'],
    ['.git/hooks/pre-commit', '.git/hooks'],
    ['.git/config', '.git/config'],
    ['.git', '.git'],
    ['sub/.git', '.git'],
    ['sub/module/.git/hooks/post-checkout', '.git/hooks'],
    ['.GIT/Config', '.git/config'],
    ['a/../.vscode/tasks.json', '.vscode'],
  ])('refuses %s, which need not exist yet, and names the rule %s and how to allow it', async (path, rule) => {
    await expect(write({ path, content: 'x' })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining(`(rule: ${rule})`),
      details: { kind: 'write', rule, how_to_allow: expect.stringContaining('A person can') },
    });
  });

  it('refuses a protected path that is reached through a link', async () => {
    symlinkSync('.', at('here'));
    symlinkSync('.envrc', at('innocent'));
    for (const path of ['here/.envrc', 'innocent'])
      await expect(write({ path, content: 'x' })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('allows names that only look like protected names', async () => {
    for (const path of ['.envrc.example', 'docs/envrc', '.claudes', '.github/workflows/ci.yml', '.gitignore'])
      await expect(write({ path, content: 'x' }), path).resolves.toMatchObject({ created: true });
  });

  it('refuses a directory, and a file as a directory', async () => {
    mkdirSync(at('a-dir'));
    writeFileSync(at('a-file'), '');
    await expect(write({ path: 'a-dir', content: 'x' })).rejects.toMatchObject({ code: 'PATH_INVALID' });
    await expect(write({ path: 'a-file/x', content: 'x' })).rejects.toMatchObject({ code: 'PATH_INVALID' });
    await expect(write({ path: 'n'.repeat(300), content: 'x' })).rejects.toMatchObject({ code: 'PATH_INVALID' });
  });

  it('refuses an unknown mode', async () => {
    await expect(write({ path: 'x', content: '', mode: 'truncate' })).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  });

  it.each([
    ['/edits/0/old is empty', { edits: [{ old: '', new: 'x' }] }],
    ['/edits/1/new must be a string', { edits: [{ old: 'a', new: 'b' }, { old: 'b' }] }],
    ['/edits/0/all must be true or false', { edits: [{ old: 'a', new: 'b', all: 1 }] }],
    ['/edits/0 must be an object', { edits: ['a'] }],
    ['/edits is empty', { edits: [] }],
    ['/edits must be a list', { edits: 'a' }],
    ['/edits cannot go with content', { content: '', edits: [] }],
    ['/patch cannot go with edits', { edits: [], patch: '' }],
    ['/mode cannot go with edits', { edits: [], mode: 'create' }],
    ['/content is missing', {}],
  ] as const)('refuses %s', async (message, input) => {
    writeFileSync(at('args.txt'), 'a');
    await expect(write({ path: 'args.txt', ...input } as JsonObject)).rejects.toMatchObject({
      code: 'ARGS_INVALID',
      message,
    });
    expect(readFileSync(at('args.txt'), 'utf8')).toBe('a');
  });
});
