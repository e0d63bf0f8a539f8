import { chownSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

describe.each(usualWho())('ready sandboxes, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
    bench.host('git init -q . && mkdir -p sub .claude');
  });
  afterAll(() => bench.close());

  const ready = async (): Promise<number> => {
    const { ready: shelves } = await bench.sandbox.status();
    return shelves.reduce((sum, { count }) => sum + count, 0);
  };
  /** Fills the pool, as the first command of a project does. */
  const fill = async (): Promise<void> => {
    await bench.bash('true');
    await expect.poll(ready, { timeout: 20_000 }).toBe(2);
  };

  test('are two after the first command, bounded and shown in the status', async () => {
    await fill();
    const status = await bench.sandbox.status();
    expect(status.ready).toEqual([{ workspace: bench.workspace, count: 2 }]);
    expect(status.readyMax).toBeGreaterThanOrEqual(2);
    expect(status.running).toBe(0);
  });

  test('SEC-2.1 are used once: the next command sees neither files in /tmp nor variables of the last one', async () => {
    await fill();
    const first = await bench.bash('MARK=left; touch /tmp/left ~/left; echo $$ $BASHPID; sleep 1000 & true');
    expect(first.exitCode).toBe(0);
    const others = await Promise.all(['a', 'b', 'c', 'd'].map(() => bench.bash('ls /tmp ~; echo [$MARK]')));
    for (const other of others) expect(other.out).not.toContain('left');
  });

  test('give a command the same output, code, signal, directory and errors as a new sandbox', async () => {
    const scripts = [
      'echo out; echo err >&2; exit 7',
      'kill -TERM $$',
      'pwd; echo "[$OLDPWD]"; echo "$0" "$#"',
      'nothing-of-this-name',
      'cat; echo $?',
      'ls /proc/self/fd | wc -l',
      'cat <<X\na $HOME\nX\necho "it\'s" # trailing',
      'env | sort; set | grep -c ^contextd_',
      'echo "$BASH_EXECUTION_STRING"',

      'trap "echo bye" EXIT; false',
      'f() { return 3; }; f; echo $?; exec sh -c "exit 9"',
      'echo "$-"; shopt -p | head -3',
      'ls /proc/self/fd | wc -l; cat /nowhere | tail -1',
      'echo\necho "$LINENO $_ $SHLVL" | cat\nnothing-of-this-name | cat',
      'exec 2>&1; pwd | grep -c sub; false | exit 7',
      'readlink /proc/self/fd/0',
    ];
    for (const script of scripts) {
      await fill();
      const warm = await bench.bash(script, { cwd: join(bench.workspace, 'sub') });
      // Empty stdin of a new sandbox is /dev/null too; a variable forces a new shell.
      const cold = await bench.bash(script, { cwd: join(bench.workspace, 'sub'), env: { LANG: 'C.UTF-8' } });
      expect(warm, script).toMatchObject({
        exitCode: cold.exitCode,
        signal: cold.signal,
        out: cold.out,
        err: cold.err,
      });
    }
  });

  test('issue 31.1 report the statuses of the last pipeline as a new sandbox does, and a command does not see how', async () => {
    const cases: [script: string, statuses: number[]][] = [
      ['echo a | tail -1', [0, 0]],
      ['sh -c "echo out; exit 2" 2>&1 | tail -1', [2, 0]],
      ['set -o pipefail; false | sh -c "exit 3" | cat', [1, 3, 0]],
      ['false', []],
      ['false | true; true', []],
    ];
    for (const [script, statuses] of cases) {
      await fill();
      const { readyUsed } = await bench.sandbox.status();
      expect((await bench.bash(script)).pipeStatus, script).toEqual(statuses);
      expect((await bench.sandbox.status()).readyUsed).toBe(readyUsed + 1);
      expect((await bench.bash(script, { env: { LANG: 'C.UTF-8' } })).pipeStatus, script).toEqual(statuses);
    }
    const { out } = await bench.bash('compgen -v | grep contextd; trap -p; ls -l /proc/self/fd | grep -c socket');
    expect(out).toBe('0\n');
  });

  test('SEC-2.3 are not used if they were started before a protected path changed', async () => {
    await fill();
    bench.host('mv .git/config .git/config.old && cp .git/config.old .git/config');
    const replaced = await bench.bash('echo x >> .git/config');
    expect(replaced.exitCode).not.toBe(0);
    await fill();
    bench.host('rm -rf .claude && mkdir .claude && echo {} > .claude/settings.json');
    const done = await bench.bash('cat .claude/settings.json; echo x > .claude/settings.json');
    expect(done).toMatchObject({ out: '{}\n' });
    expect(done.exitCode).not.toBe(0);
    await fill();
    writeFileSync(join(bench.workspace, '.envrc'), 'echo mine\n');
    const envrc = await bench.bash('echo theirs > .envrc');
    expect(envrc.exitCode).not.toBe(0);
    expect(envrc.quarantined).toEqual([]);
  });

  test('show a directory that was replaced in the meantime as it is now', async () => {
    mkdirSync(join(bench.workspace, 'd'));
    await fill();
    renameSync(join(bench.workspace, 'd'), join(bench.workspace, 'e'));
    expect((await bench.bash('ls -d d e')).out).toBe('e\n');
  });

  test('NFR-1.4 are prepared again for a project folder that was replaced, and are used', async () => {
    await fill();
    const replacements = [
      () => rmSync(bench.workspace, { recursive: true }),
      () => renameSync(bench.workspace, `${bench.workspace}-before`),
    ];
    for (const takeAway of replacements) {
      const { uid, gid } = statSync(bench.workspace);
      takeAway();
      mkdirSync(bench.workspace);
      chownSync(bench.workspace, uid, gid);
      bench.host('echo new >new');
      expect((await bench.bash('cat new; ls')).out).toBe('new\nnew\n');
      await expect.poll(ready, { timeout: 20_000 }).toBe(2);
      const { readyUsed } = await bench.sandbox.status();
      expect((await bench.bash('cat new')).out).toBe('new\n');
      expect((await bench.sandbox.status()).readyUsed).toBe(readyUsed + 1);
    }
  });

  test('and new ones give sixteen simultaneous commands their own answers', async () => {
    await fill();
    const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => bench.bash(`echo ${i}; exit ${i}`)));
    expect(answers.map(({ out, exitCode }) => [out, exitCode])).toEqual(
      Array.from({ length: 16 }, (_, i) => [`${i}\n`, i]),
    );
  });
});
