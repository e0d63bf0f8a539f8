import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openCaller } from '../helpers/daemon-caller.ts';
import { install } from '../helpers/installation.ts';

it('issue 19 part 4 every tool and job of a branch with files of its own works on these, and the base on its own', async () => {
  const at = await install({ warm: true });
  const daemon = await openCaller(at, 'branch-tools');
  const call = async (tool: string, input: object) => (await daemon.call(tool, input)).envelope;
  const read = async (more: object = {}) => (await call('safe_read', { path: 'a.txt', ...more })).data.content;
  const inBase = (name: string) => join(at.project, name);
  try {
    writeFileSync(inBase('a.txt'), 'base\n');
    expect(await read()).toContain('base');
    const opened = await call('branch', { description: 'try', prompt: 'Try.', files: 'own' });
    const branch = String(opened.data.branch_id);
    const written = await call('safe_write', { path: 'a.txt', content: 'branch\n', branch });
    expect(written).toMatchObject({ success: true });
    expect(written.meta).not.toHaveProperty('files_changed');
    expect(await read({ branch })).toContain('branch');
    expect(await read()).toContain('base');
    const inner = await call('branch', { description: 'in', prompt: 'In.', files: 'shared', branch });
    expect(await read({ branch: inner.data.branch_id })).toContain('branch');
    const job = await call('safe_bash', { command: 'cat a.txt; echo job >job.txt', background: true, branch });
    const shown = await call('jobs', { action: 'wait', job: job.data.job, branch });
    expect(JSON.stringify(shown.data)).toContain('branch');
    expect((await call('safe_bash', { command: 'cat job.txt', branch })).data.stdout).toBe('job\n');
    // What a person writes meanwhile is seen by the tool process that runs already.
    writeFileSync(inBase('b.txt'), 'person\n');
    expect((await call('safe_read', { path: 'b.txt', branch })).data.content).toContain('person');
    expect(existsSync(inBase('job.txt'))).toBe(false);
    expect(await read()).toContain('base');
  } finally {
    daemon.close();
    await at.remove();
  }
});
