import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PATH_HOOK } from '#src/cli/init/layout.js';

const run = promisify(execFile);

describe('the hook that sets PATH', () => {
  it.each(['plain', 'it\'s $(touch pwned) `touch pwned` "quoted" \\ $HOME'])(
    'survives a project named %j',
    async (name) => {
      const base = await realpath(await mkdtemp(join(tmpdir(), 'contextd-hook-')));
      try {
        const project = join(base, name);
        const bin = join(project, '.claude', 'bin');
        await mkdir(bin, { recursive: true });
        await writeFile(join(bin, 'hello'), '#!/bin/sh\necho hello from the project\n', { mode: 0o755 });
        const file = join(base, 'env');
        const environment = { PATH: '/usr/bin:/bin', CLAUDE_PROJECT_DIR: project, CLAUDE_ENV_FILE: file };
        await run('/bin/sh', ['-c', PATH_HOOK], { cwd: base, env: environment });
        for (const shell of ['/bin/sh', '/bin/bash']) {
          const { stdout } = await run(shell, ['-c', `. '${file}'; hello; ls`], {
            cwd: base,
            env: { PATH: '/usr/bin:/bin' },
          });
          expect(stdout).toBe(`hello from the project\nenv\n${name}\n`);
        }
        expect(await readFile(file, 'utf8')).toContain(':"$PATH"');
      } finally {
        await rm(base, { recursive: true, force: true });
      }
    },
  );

  it('does nothing in a client that names no such file', async () => {
    const environment = { PATH: '/usr/bin:/bin', CLAUDE_PROJECT_DIR: '/p' };
    expect(await run('/bin/sh', ['-c', PATH_HOOK], { cwd: '/', env: environment })).toEqual({ stdout: '', stderr: '' });
  });
});
