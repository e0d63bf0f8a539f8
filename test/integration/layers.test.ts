import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Bench, openBench, whoCanRun } from '../fixtures/sandbox-harness.ts';

const GIT_ENV = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.invalid',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.invalid',
};

/** Every file of the workspace: kind, mode, owner, times, content or target. */
const LIST = `find . -printf '%P %y %m %U %G %T@ %C@ %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum`;

describe.each(whoCanRun())('a branch with files of its own, %s', (who) => {
  let bench: Bench;
  const view = (...layer: string[]) => ({ workspace: { path: bench.workspace, layer } });
  const inBranch = (script: string, ...layer: string[]) => bench.bash(script, { env: GIT_ENV }, view(...layer));
  beforeEach(async () => {
    bench = await openBench(who);
  });
  afterEach(() => bench.close());

  test('FR-6.3 sees the base and its own changes, and the base stays as it is, to the byte', async () => {
    bench.host(
      'git init -q -b main . && mkdir -p d/e .vscode && echo one >a && echo two >d/b && echo x >d/e/c && : >.vscode/s.json && git add -A && git commit -qm first',
    );
    expect(await bench.sandbox.createLayer(bench.policy(view('br_1')))).toBe('overlay');
    const before = bench.host(LIST);
    const first = await inBranch(
      'set -e; cat a d/b; echo changed >>a; rm d/b; rm -r d/e; mkdir d/e; echo new >n; chmod 700 d; git add -A; git commit -qm second; git log --format=%s',
      'br_1',
    );
    expect(first).toMatchObject({ exitCode: 0, out: 'one\ntwo\nsecond\nfirst\n' });
    expect(bench.host(LIST)).toBe(before);
    const second = await inBranch(
      'cat a n; ls -A d d/e; git status --short; git log --format=%s; echo x >.vscode/s.json; echo x >.git/hooks/post-commit; echo x >>.git/config; mv .git g; true',
      'br_1',
    );
    expect(second.out).toBe('one\nchanged\nnew\nd:\ne\n\nd/e:\nsecond\nfirst\n');
    expect(second.err.match(/Read-only file system/g)).toHaveLength(3);
    expect(second.err).toContain('Device or resource busy');
    expect(bench.host(LIST)).toBe(before);
    expect((await bench.bash('cat a; ls')).out).toBe('one\na\nd\n');
    expect(second.quarantined).toEqual([]);
    // What a person does meanwhile shows in the next call.
    bench.host('echo fresh >a.new && mv a.new f && rm d/b && echo more >d/m');
    expect((await inBranch('cat f d/m; ls d', 'br_1')).out).toBe('fresh\nmore\ne\nm\n');
    await bench.sandbox.removeLayer(bench.workspace, 'br_1');
    await expect(inBranch('true', 'br_1')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
  });
});
