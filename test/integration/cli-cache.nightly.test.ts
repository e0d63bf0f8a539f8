import { realpathSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

interface Caches {
  project: string;
  bytes: number;
  max_bytes: number;
  used_ms: number;
}

describe('the caches of a project', () => {
  let at: Installation;
  let project: string;

  beforeAll(async () => {
    at = await install();
    project = realpathSync(at.project);
  });
  afterAll(() => at.remove());

  const ctxd = (...words: string[]): Promise<Finished> => at.run(CTXD, words, { cwd: at.project });
  const list = async (): Promise<Caches[]> => JSON.parse((await ctxd('cache', 'list', '--json')).stdout);
  const bash = async (session: string, command: string): Promise<string | undefined> => {
    const { data } = await at.ask('safe_bash', { command }, { env: { CONTEXTD_SESSION_ID: session } });
    return data.stdout;
  };

  it('are listed, shown to every session, and emptied on request', async () => {
    expect(await list()).toEqual([]);
    await bash('a', 'head -c 3M /dev/zero >~/.cache/large; echo kept >~/.npm/x; echo mine >~/.npmrc');
    expect(await bash('b', 'cat ~/.npm/x; cat ~/.npmrc 2>&1')).toMatch(/^kept\ncat: .*No such file or directory\n$/);
    const [caches] = await list();
    expect(caches).toMatchObject({ project, max_bytes: 10_240 * 1024 * 1024 });
    expect(caches?.bytes).toBeGreaterThan(3_000_000);
    expect(caches?.used_ms).toBeGreaterThan(Date.now() - 600_000);
    expect((await ctxd('cache', 'clear')).stdout).toBe(`Emptied the caches of ${project}.\n`);
    expect((await list())[0]?.bytes).toBeLessThan(1_000_000);
    expect(await bash('b', 'ls ~/.cache ~/.npm')).not.toMatch(/large|x$/);
    expect(await bash('a', 'cat ~/.npmrc')).toBe('mine\n');
  });

  it('of a project without any are not found; --all and a project exclude each other', async () => {
    expect(await ctxd('cache', 'clear', '/nowhere')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/nowhere has no caches'),
    });
    expect(await ctxd('cache', 'clear', '--all', '/nowhere')).toMatchObject({ code: 2 });
    expect((await ctxd('cache', 'clear', '--all', '--json')).code).toBe(0);
  });

  it('are never seen by the other tools, and HOME and /tmp end with their session', async () => {
    await bash('ends', 'echo x >/tmp/x; echo x >~/x');
    expect(await bash('ends', 'cat /tmp/x ~/x')).toBe('x\nx\n');
    const read = await at.ask('safe_read', { path: '/tmp/x' }, { env: { CONTEXTD_SESSION_ID: 'ends' } });
    expect(read.success).toBe(false);
    expect((await ctxd('session', 'end', '--session', 'ends')).code).toBe(0);
    expect(await bash('ends', 'cat /tmp/x ~/x 2>&1')).toMatch(/(No such file or directory\n.*){2}/);
  });

  it('have a line in the doctor, which warns of those over their limit', async () => {
    await bash('a', 'head -c 20M /dev/zero >~/.cache/large');
    const { stdout } = await ctxd('doctor', '--json');
    const line = (JSON.parse(stdout).checks as { name: string; status: string; detail: string }[]).find(
      ({ name }) => name === 'caches',
    );
    expect(line).toMatchObject({ status: 'ok', detail: expect.stringMatching(/^2\d MiB in 1 projects$/) });
  });
});
