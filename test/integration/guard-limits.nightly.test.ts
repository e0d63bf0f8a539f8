import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Protection } from '#src/guard/contract/protection.js';
import { openBench as openSandbox, type Bench as SandboxBench, usualWho } from '../fixtures/sandbox-harness.ts';
import { type Bench, openBench } from '../helpers/workspace-bench.ts';

const DEEP = `$(printf '/d%.0s' {1..60})`;

/** What a call can make any number of, among all that a guard counts: more than each limit. */
const CROWDS: readonly (readonly [what: string, script: string])[] = [
  ['empty repositories', 'mkdir -p e{1..350}/.git'],
  ['repositories with configuration and hooks', 'mkdir -p r{1..350}/.git/hooks; touch r{1..350}/.git/config'],
  ['bare repositories', 'mkdir -p b{1..350}/{objects,refs}; tee b{1..350}/HEAD <<<"ref: refs/heads/m" >/dev/null'],
  ['.git files', 'mkdir -p p{1..350} x/.git; tee p{1..350}/.git <<<"gitdir: ../x/.git" >/dev/null'],
  ['repositories in deep directories', `deep=${DEEP}; for i in {1..60}; do mkdir -p $i$deep/.git/hooks; done`],
  [
    'repositories behind a path that no mount can name',
    "n=$(printf 'n%.0s' {1..200}); for i in {1..25}; do mkdir -p $n/.git/hooks; cd $n; : >.git/config; done",
  ],
  ['repositories whose names are not UTF-8', `a=$(printf 'a\\377'); mkdir -p "$a"{1..350}/.git/hooks`],
  ['matches of a deny glob at the root', 'touch {1..900}.pem'],
  ['matches of a deny glob in one directory', 'mkdir one; touch one/{1..900}.pem'],
  ['matches of a deny glob in many directories', 'mkdir many{1..900}; touch many{1..900}/k.pem'],
  ['directories that match', 'mkdir -p m/{1..900}.pem'],
  ['matches whose place counts', `eval mkdir -p place/{1..30}${DEEP}; eval touch place/{1..30}${DEEP}/k`],
  [
    'a match whose name is not UTF-8',
    `: >"$(printf 'a\\377.pem')"; mkdir "$(printf 'b\\377')"; : >"$(printf 'b\\377')/k.pem"`,
  ],
  ['closed directories', 'mkdir -p c{1..350}/.git/hooks; chmod 000 c{1..350}'],
];
const DENY = ['*.pem', 'place/**/k', '*.key'];

/** What the person had before, deeper and later in the alphabet than what a call makes. */
const PERSONS = 'mkdir -p z/deep/repo z/keys; git init -q z/deep/repo; echo secret >z/keys/own.key';

function destinations({ mounts }: Protection, kind: string): string[] {
  return mounts.flatMap((mount) => (mount.kind === kind && 'dest' in mount ? [mount.dest] : []));
}

describe('a guard', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = openBench();
  });
  afterEach(() => bench.close());

  test.each(CROWDS)('SEC-2.3 protects what the person had, however many %s a call makes', async (_, crowd) => {
    bench.sh(PERSONS);
    const own = ['z/deep/repo/.git/config', 'z/deep/repo/.git/hooks'].map((path) => join(bench.workspace, path));
    const first = bench.guard(DENY);
    await bench.run(first, crowd);
    const restarted = bench.guard(DENY);
    for (const guard of [first, restarted]) {
      const protection = await guard.protection();
      expect(destinations(protection, 'ro-bind')).toEqual(expect.arrayContaining(own));
      expect(protection.hidden).toContainEqual({ path: join(bench.workspace, 'z/keys/own.key'), kind: 'file' });
      expect(protection.mounts.length).toBeLessThan(2_500);
    }
  });
});

describe.each(usualWho())('a sandbox, %s', (who) => {
  let bench: SandboxBench;
  beforeEach(async () => {
    bench = await openSandbox(who);
  });
  afterEach(() => bench.close());

  test('SEC-2.3 starts after a call made too much of everything that is counted, also after a restart', async () => {
    bench.host(PERSONS);
    const policy = { deny: DENY };
    const made = await bench.bash(CROWDS.map(([, script]) => `(${script})`).join('\n'), { timeoutMs: 120_000 }, policy);
    expect({ exitCode: made.exitCode, err: made.err }).toEqual({ exitCode: 0, err: '' });
    const isRunning = async () => {
      const { exitCode, err } = await bench.bash('true', { timeoutMs: 120_000 }, policy);
      expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    };
    await isRunning();
    await bench.sandbox.stop();
    await bench.sandbox.launch();
    await isRunning();
    const tried = await bench.bash(
      'echo x >z/deep/repo/.git/config; cat z/keys/own.key',
      { timeoutMs: 120_000 },
      policy,
    );
    expect(tried.err).toContain('Read-only file system');
    expect(tried.out).toBe('');
  }, 240_000);
});
