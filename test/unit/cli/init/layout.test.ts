import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { extendedText, rulesText, skillText } from '#src/cli/init/agent-texts.js';
import { localPathHook, PATH_HOOK } from '#src/cli/init/client-settings.js';
import { isMarked, withMark } from '#src/cli/init/content-hash.js';
import { layoutFor } from '#src/cli/init/layout.js';
import { cl100k } from '../../../helpers/tiktoken.ts';
import { PROXY, TOOLS, toolText } from './tree.ts';

const run = promisify(execFile);

describe('the texts for agents', () => {
  it('include a rules file of at most 200 tokens, for the core tools and for many', () => {
    const names = new Set([...readdirSync(join(import.meta.dirname, '../../../../tools')), 'jobs']);
    const core = [...names].map((name) => toolText(name));
    const many = [...core, ...Array.from({ length: 50 }, (_, index) => toolText(`tool_${index}`))];
    for (const tools of [TOOLS, core, many]) expect(cl100k.encode(rulesText(tools)).length).toBeLessThanOrEqual(200);
  });

  it('teach no way of quoting that Claude Code refuses or changes', () => {
    for (const text of [rulesText(TOOLS), skillText(TOOLS)]) {
      expect(text).toContain("safe_bash 'npm test'");
      expect(text).toContain(`safe_bash --command "$(cat <<'EOF'`);
      expect(text).not.toMatch(/(?<!not )write .*u0027/);
    }
  });

  it('say what to do in a clone without links, without a program and with long work', () => {
    expect(rulesText(TOOLS)).toMatch(/`safe_bash` not found: .*`ctxd init`.*your own tools/);
    expect(rulesText(TOOLS)).toMatch(/program is missing.*a person allows it/);
    expect(rulesText(TOOLS)).toMatch(/Limits: allowed hosts, \d+ s .*writes only in the project\. Files stay/);
  });

  it('include a skill that says when to use it and grants itself nothing', () => {
    const head = skillText(TOOLS).split('---')[1] ?? '';
    expect(head).toContain('description: Run commands');
    expect(head).not.toContain('allowed-tools');
    for (const { name } of TOOLS) expect(skillText(TOOLS)).toContain(`## ${name}`);
  });
});

describe('a tool whose name is a builtin of shells', () => {
  it('is on PATH by a second name too, which is taught and allowed', () => {
    const jobs = { ...toolText('safe_bash'), name: 'jobs' };
    const { links, files, merges: mergesOf } = layoutFor([jobs], '/srv/shop', PROXY);
    const merges = mergesOf([]);
    expect([...links.keys()]).toEqual([
      '.claude/tools/jobs/jobs',
      '.claude/bin/jobs',
      '.claude/bin/safe_jobs',
      '.claude/bin/contextd-hook',
    ]);
    expect(files.get('.claude/rules/contextd.md')).toContain('`safe_jobs --help`');
    const { entries } = { entries: [], ...merges.get('.claude/settings.json') };
    expect(JSON.stringify(entries)).toContain('Bash(safe_jobs *)');
    expect(JSON.stringify(entries)).not.toContain('(jobs');
    expect(JSON.stringify(merges.get('.claude/settings.local.json'))).toContain('/srv/shop/.claude/bin/safe_jobs *');
    expect(JSON.stringify(merges.get('.claude/.gitignore'))).toContain('/bin/safe_jobs');
  });
});

describe('the mark of a file', () => {
  it('matches only the text and the files that it covers', () => {
    const marked = withMark('text\n', ['a', 'b']);
    expect(isMarked(marked, ['a', 'b'])).toBe(true);
    expect(isMarked(marked, ['ab', ''])).toBe(false);
    expect(isMarked(`x${marked}`, ['a', 'b'])).toBe(false);
    expect(isMarked(`${marked}more\n`, ['a', 'b'])).toBe(false);
    expect(isMarked('text\n')).toBe(false);
  });

  it('of a tool covers its three files', () => {
    const tool = toolText('safe_bash');
    expect(isMarked(extendedText(tool), [`${tool.schemaJson}\n`, tool.toolMd])).toBe(true);
  });
});

describe('the hook that sets PATH', () => {
  it.each(['plain', 'it\'s $(touch pwned) `touch pwned` "quoted" \\ $HOME'])(
    'survives a project named %j',
    async (name) => {
      const base = await realpath(await mkdtemp(join(tmpdir(), 'contextd-hook-')));
      try {
        const project = join(base, name);
        const bin = join(project, '.claude', 'bin');
        await mkdir(bin, { recursive: true });
        await writeFile(join(base, 'contextd-proxy'), '#!/bin/sh\necho hello from the project\n', { mode: 0o755 });
        await symlink(join(base, 'contextd-proxy'), join(bin, 'hello'));
        const file = join(base, 'env');
        const environment = { PATH: '/usr/bin:/bin', CLAUDE_PROJECT_DIR: project, CLAUDE_ENV_FILE: file };
        for (const hook of [PATH_HOOK, localPathHook(project)]) {
          await rm(file, { force: true });
          await run('/bin/sh', ['-c', hook], { cwd: base, env: environment });
          for (const shell of ['/bin/sh', '/bin/bash']) {
            const { stdout } = await run(shell, ['-c', `. '${file}'; hello; ls`], {
              cwd: base,
              env: { PATH: '/usr/bin:/bin' },
            });
            expect(stdout).toBe(`hello from the project\ncontextd-proxy\nenv\n${name}\n`);
          }
          expect(await readFile(file, 'utf8')).toContain(':"$PATH"');
        }
      } finally {
        await rm(base, { recursive: true, force: true });
      }
    },
  );

  it('issue 30.2.4: names the tools of the project in a worktree below .claude/worktrees', async () => {
    const base = await realpath(await mkdtemp(join(tmpdir(), 'contextd-hook-')));
    try {
      const worktree = join(base, '.claude/worktrees/one');
      for (const directory of [worktree, join(base, '.claude/bin')]) await mkdir(directory, { recursive: true });
      const environment = { PATH: '/usr/bin:/bin', CLAUDE_PROJECT_DIR: worktree, CLAUDE_ENV_FILE: join(base, 'env') };
      await run('/bin/sh', ['-c', PATH_HOOK], { cwd: worktree, env: environment });
      expect(await readFile(join(base, 'env'), 'utf8')).toBe(`export PATH='${base}/.claude/bin':"$PATH"\n`);
    } finally {
      await rm(base, { recursive: true, force: true });
    }
  });

  it('does nothing in a client that sets no CLAUDE_ENV_FILE', async () => {
    const environment = { PATH: '/usr/bin:/bin', CLAUDE_PROJECT_DIR: '/p' };
    expect(await run('/bin/sh', ['-c', PATH_HOOK], { cwd: '/', env: environment })).toEqual({ stdout: '', stderr: '' });
  });
});

it('a tool name that leads out of its directory is rejected', () => {
  for (const name of ['../x', 'a/b', '', '.', 'A']) {
    expect(() => layoutFor([toolText(name)], '/project', PROXY)).toThrow('the daemon named a tool');
  }
});
