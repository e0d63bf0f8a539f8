import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

describe.each(whoCanRun())('what lies outside the workspace, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
  });
  afterAll(() => bench.close());

  test('is read-only also if the workspace lies below /tmp, so that no write is lost, and is reported', async () => {
    const beside = join(bench.base, 'out.txt');
    for (const script of ['echo hi >../out.txt', `echo hi >${beside}`, 'mkdir ../wt', 'cd .. && touch x']) {
      const { exitCode, err } = await bench.bash(script);
      expect([script, exitCode, err]).toEqual([script, 1, expect.stringContaining('Read-only file system')]);
    }
    const { denied } = await bench.bash('echo hi >../out.txt');
    expect(denied).toMatchObject([{ kind: 'read_only', path: beside }]);
    expect(existsSync(beside)).toBe(false);
    const scratch = await bench.bash('echo hi >/tmp/x && echo hi >~/x && cat /tmp/x ~/x');
    expect(scratch).toMatchObject({ exitCode: 0, out: 'hi\nhi\n', denied: [] });
  });

  test('SEC-2.3 /etc has what installed programs need, and nothing that could be secret', async () => {
    const { out } = await bench.bash('find -L /etc -type f | xargs grep -l "PRIVATE KEY-----"; true');
    expect(out).toBe('');
    const secret = ['shadow', 'gshadow', 'sudoers', 'ssh/ssh_host_ed25519_key', 'machine-id', 'fstab', 'environment'];
    const seen = await bench.bash(secret.map((name) => `ls -d /etc/${name}`).join('; '));
    expect(seen.out).toBe('');
    const needed = await bench.bash('perl -MCPAN -e 1 && ls -d /etc/ssl/certs /etc/alternatives && cat /etc/passwd');
    expect(needed).toMatchObject({ exitCode: 0, out: expect.stringContaining('sandbox:x:1000') });
  });
});
