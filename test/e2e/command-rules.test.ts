import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

describe('the rules of a client for commands, in an installation', () => {
  let at: Installation;
  beforeAll(async () => {
    at = await install({ settings: { 'approvals.wait_ms': '0' } });
  });
  afterAll(() => at.remove());

  const ctxd = (...words: string[]): Promise<Finished> => at.run(CTXD, words, { cwd: at.project });
  const command = "sh -c 'git commit' || echo ran";

  it('refuse a command inside with the command of ctxd that allows it, which does', async () => {
    const file = join(at.project, '.claude/settings.json');
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(
      file,
      JSON.stringify({ ...settings, permissions: { ...settings.permissions, ask: ['Bash(git commit *)'] } }),
    );
    const refused = await at.ask('safe_bash', { command });
    expect(refused.data).toMatchObject({ error_code: 'PERMISSION_DENIED' });
    expect(refused.error).toContain(`(a rule of ${file}) asks a person about this call`);
    const [, id = ''] = /`ctxd approve (rule_\w+) 1h`/.exec(String(refused.data.remediation)) ?? [];
    expect(await ctxd('approve', id, '1h')).toMatchObject({ code: 0, stderr: '' });
    expect((await at.ask('safe_bash', { command })).data.stdout).toBe('ran\n');
    const { stdout } = await ctxd('approve', 'list');
    expect(stdout).toContain(`${id}: * when Bash(git commit *) (a rule of ${file})`);
    expect((await ctxd('audit', 'tail', '--json')).stdout).toContain(
      `"command_rules":[{"verdict":"asked","rule":"Bash(git commit *)","file":"${file}"}]`,
    );
  });

  it('are reported by ctxd doctor if their file cannot be read', async () => {
    mkdirSync(join(at.project, '.opencode'), { recursive: true });
    const file = join(at.project, '.opencode/opencode.json');
    writeFileSync(file, '{');
    const { stdout } = await ctxd('doctor', '--json');
    expect(stdout).toContain(`${file}: `);
    expect(stdout).toContain('a person is asked about every command');
    rmSync(file);
  });
});
