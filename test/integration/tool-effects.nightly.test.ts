import { chmodSync, chownSync, existsSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileEffect } from '#src/call/effects.js';
import type { SandboxPolicy } from '#src/sandbox/contract/policy.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { makeTool } from '../helpers/made-tool.ts';
import { openToolDaemon, type ToolDaemon } from '../helpers/tool-daemon.ts';
import { openToolRunner, PROFILE, type ToolRunner } from '../helpers/tool-runner.ts';

/** Runs the shell command in its input. */
const RUN = `#!/bin/sh
command=$(cat | sed -e 's/^{"city":"//' -e 's/"}$//')
eval "$command" 2>&1
`;

const NO_WRITERS: readonly FileEffect[] = ['none', 'read'];

describe.each(usualWho())('a tool from elsewhere is held to the effects on files that it states, %s', (who) => {
  let bench: Bench;
  let tools: ToolRunner;
  let bundleDir: string;
  /** The policies of the watches that were asked for. */
  const watched: SandboxPolicy[] = [];

  beforeAll(async () => {
    bench = await openBench(who);
    await bench.sandbox.start();
    bench.host('git init -q . && echo kept > file && mkdir sub .claude && echo {} > .mcp.json');
    bundleDir = mkdtempSync(join(tmpdir(), 'ctxd-effects-'));
    chmodSync(bundleDir, 0o755);
    writeFileSync(join(bundleDir, 'main.sh'), RUN, { mode: 0o755 });
    const sandbox = {
      run: bench.sandbox.run.bind(bench.sandbox),
      open: bench.sandbox.open.bind(bench.sandbox),
      watch: (policy: SandboxPolicy) => {
        watched.push(policy);
        return bench.sandbox.watch(policy);
      },
    };
    tools = openToolRunner(bench, { sandbox });
  });
  afterAll(async () => {
    await tools.close();
    await bench.close();
    rmSync(bundleDir, { recursive: true, force: true });
  });

  async function sh(command: string, files: FileEffect): Promise<string> {
    const { output } = await tools.program('hello', {
      bundleDir,
      profile: { ...PROFILE, runtime: 'exec', entry: 'main.sh' },
      input: { city: command },
      effects: { files, session: 'work' },
    });
    return output.streams?.[0]?.text ?? '';
  }

  it.each(NO_WRITERS)('its process sees the project read-only if it states %s', async (files) => {
    for (const command of ['echo x >new', 'echo x >file', 'rm file', 'mkdir sub/new', 'echo x >.git/HEAD', 'mv sub a'])
      expect(await sh(command, files), command).toContain('Read-only file system');
    expect(await sh('cat file; echo x >/tmp/a && cat /tmp/a', files)).toBe('kept\nx\n');
    expect(bench.host('cat file; ls')).toBe('kept\nfile\nsub\n');
  });

  it.each(NO_WRITERS)('so do the commands that it runs if it states %s', async (files) => {
    const exec = async (command: string) => {
      const change = { grants: ['exec'], input: { command }, effects: { files, session: 'work' as const } };
      return (await tools.fixture('ask-host', 'exec', change)).output.data;
    };
    for (const command of ['echo x >new', 'echo x >file', 'echo x >.git/HEAD', 'git commit --allow-empty -m a'])
      expect(await exec(command), command).toMatchObject({ stderr: expect.stringContaining('Read-only file system') });
    expect(await exec('cat file')).toMatchObject({ stdout: 'kept\n' });
    expect(existsSync(join(bench.workspace, 'new'))).toBe(false);
  });

  it.each(NO_WRITERS)('so does it in a branch with files of its own if it states %s', async (files) => {
    const layer = [`br_${files}`];
    const policyFor = () => bench.policy({ workspace: { path: bench.workspace, layer } });
    await bench.sandbox.createLayer(policyFor());
    const inBranch = openToolRunner(bench, { policyFor });
    try {
      const { output } = await inBranch.program('hello', {
        bundleDir,
        profile: { ...PROFILE, runtime: 'exec', entry: 'main.sh' },
        input: { city: 'cat file; echo x >file' },
        effects: { files, session: 'work' },
      });
      expect(output.streams?.[0]?.text).toMatch(/^kept\n.*Read-only file system/);
    } finally {
      await inBranch.close();
      await bench.sandbox.removeLayer(bench.workspace, layer[0] ?? '');
    }
  });

  it('nothing asks for a watch of such a call, and for one of any other', async () => {
    watched.length = 0;
    for (const files of NO_WRITERS) await sh('true', files);
    await tools.core('safe_read', { path: 'file' });
    expect(watched).toEqual([]);
    expect(await sh('echo x >.envrc; echo x >new', 'write')).toBe('');
    await tools.core('safe_write', { path: 'other', content: 'x' });
    expect(watched.map(({ isWorkspaceReadOnly }) => isWorkspaceReadOnly)).toEqual([undefined, undefined]);
    bench.host('rm -f new other');
  });

  it('a directory outside the project that it may write is still watched', async () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'ctxd-outside-')));
    const { uid, gid } = statSync(bench.workspace);
    chownSync(outside, uid, gid);
    const access = { paths: [{ path: outside, isWritable: true }], variables: {}, limits: {} };
    const other = openToolRunner(bench, { toolAccessFor: () => access });
    try {
      const { quarantined } = await other.program('hello', {
        bundleDir,
        profile: { ...PROFILE, runtime: 'exec', entry: 'main.sh' },
        input: { city: `mkdir ${outside}/.vscode; echo {} >${outside}/.vscode/tasks.json` },
        effects: { files: 'none', session: 'work' },
      });
      expect(quarantined).toHaveLength(1);
    } finally {
      await other.close();
      rmSync(outside, { recursive: true, force: true });
    }
  });
});

describe('a tool that a person installed', () => {
  let dir: string;
  let daemon: ToolDaemon | null = null;

  beforeAll(() => {
    dir = join(mkdtempSync(join(tmpdir(), 'ctxd-effects-')), 'weather');
  });
  afterAll(async () => {
    await daemon?.close();
    rmSync(dirname(dir), { recursive: true, force: true });
  });

  it('is held to the effects in its tool.json', async () => {
    const script = `#!/bin/sh\nread -r input\necho changed >made.txt\nprintf '{"status":"%s"}' "$?"\n`;
    makeTool(dir, { script, manifest: { effects: { files: 'read', session: 'look' } } });
    daemon = await openToolDaemon([dir]);
    const held = await daemon.ask('weather', { city: 'Oslo' });
    expect(held.data).toMatchObject({ status: expect.stringMatching(/^[1-9]/) });
    expect(held.meta).not.toHaveProperty('files_changed');
    const free = await daemon.ask('safe_bash', { command: 'test ! -e made.txt && echo changed >made.txt' });
    expect(free.meta.files_changed).toEqual(['A made.txt']);
  });
});
