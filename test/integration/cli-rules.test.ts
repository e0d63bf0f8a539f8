import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await install({ warm: true });
});
afterAll(() => installation.remove());

const RULES = '[extend]\ndisabledRules = ["some-rule"]\n[[rules]]\nid = "own"\nregex = "own-[0-9]{4}"\n';

describe('SEC-1.1 ctxd scrub approve', () => {
  const approve = (...words: string[]) => installation.run(CTXD, ['scrub', 'approve', ...words]);
  const put = (text: string) => writeFileSync(join(installation.project, '.gitleaks.toml'), text);

  it('shows what an approval allows, asks for a yes, and holds until the file changes or the approval is withdrawn', async () => {
    expect((await approve()).stderr).toContain('there is no');
    put(RULES);
    const asked = await approve();
    expect(asked).toMatchObject({ code: 1, stdout: '' });
    expect(asked.stderr).toContain('adds 1 rules');
    expect(asked.stderr).toContain('turns the rule some-rule off');
    expect((await approve('--yes')).stdout).toContain('Approved, until the file changes.');
    await installation.run(CTXD, ['server', 'restart']);
    expect(JSON.parse((await approve('--json')).stdout)).toMatchObject({ approved: true, rules: 1 });
    put(`${RULES}# changed\n`);
    expect(await approve()).toMatchObject({ code: 1, stdout: '' });
    put(RULES);
    expect((await approve('--revoke')).stdout).toContain('Not approved');
    expect((await approve()).code).toBe(1);
  });

  it('rejects an unusable file, and a directory that is not a project', async () => {
    put('rules = [');
    expect((await approve('--yes')).stderr).toContain('not valid TOML');
    expect((await approve('/usr/share', '--yes')).code).not.toBe(0);
  });
});
