import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { appears } from '../helpers/appears.ts';
import { expectRan, type Project, removeMachine, task } from './machine.ts';

afterAll(removeMachine);

/** What an agent gets that starts now. */
async function warmStart(at: Project, task = 'go on'): Promise<string> {
  return String((await at.tool('session_init', { task })).data.text);
}

async function personDoes(at: Project, ...words: readonly string[]): Promise<string> {
  const done = await at.person(...words);
  expect(done).toMatchObject({ code: 0 });
  return done.stdout;
}

describe('issue 31.1 failures that a pipe hides', () => {
  task('pytest behind tail, || true and echo, beside a mistyped git log', 'requests', async (at) => {
    await at.shell('mkdir day');
    at.write('day/test_day.py', 'def test_totals():\n    assert 1 + 1 == 3\n');
    const run = '.venv/bin/python -m pytest -q day/test_day.py';
    for (const hidden of [`${run} 2>&1 | tail -3`, `${run} || true`, `cd . ; ${run}; echo finished`])
      expectRan(await at.bash(hidden), {});
    await at.bash('git log --onelin');
    expectRan(await at.bash('git log --oneline'), {});
    const red = await warmStart(at, 'fix the tests');
    expect(red).toContain('day/test_day.py::test_totals');
    expect(red.split('This session')[0]).not.toContain('--onelin"');
    at.write('day/test_day.py', 'def test_totals():\n    assert 1 + 1 == 2\n');
    expectRan(await at.bash(`${run} 2>&1 | tail -3`), { stdout: /1 passed/ });
    const green = await warmStart(at, 'fix the tests');
    expect(green).not.toContain('Failed, and not succeeded since');
    expect(green).toMatch(/last result .* 0 failed, 1 passed/);
  });

  task('go test behind tail names the test, and a build does not take its place', 'mux', async (at) => {
    at.write(
      'day_test.go',
      'package mux\n\nimport "testing"\n\nfunc TestDay(t *testing.T) { t.Fatal("wrong total") }\n',
    );
    await at.bash('go test -run TestDay ./... 2>&1 | tail -8');
    await at.bash('make no-such-target 2>&1 | tail -1');
    expect(await warmStart(at)).toMatch(/last result #1 .*go test.*1 failed/);
    expect(await warmStart(at)).toContain('TestDay');
  });
});

describe('issue 31.2 issue 31.3 the next agent', () => {
  task('reads the whole note, and finds every checkpoint of the one before', 'express', async (at) => {
    const note = `NEXT: 1) router 2) ask Bob about quoting. Do NOT touch view.js. ${'It is frozen. '.repeat(20)}END`;
    await at.tool('checkpoint_save', { name: 'first', note: 'the first steps' });
    const saved = await at.tool('checkpoint_save', { note });
    const next = at.session('next');
    const text = await warmStart(next);
    expect(text.split('\n')[2]).toContain(note.slice(0, 380));
    expect((await next.tool('checkpoint_list', {})).data.checkpoints).toHaveLength(2);
    const whole = await next.tool('checkpoint_restore', { id: saved.data.checkpoint_id, level: 'context' });
    expect(JSON.stringify(whole.data)).toContain('END');
  });

  task('knows where the code is as well as git status, diff and log say it', 'qs', async (at) => {
    expectRan(
      await at.bash('git switch -q -c feature && echo 1 >a.js && git add a.js && git commit -q -m "Add a"'),
      {},
    );
    await at.bash('echo "// more" >>lib/index.js; echo new >untracked.txt');
    const text = await warmStart(at);
    for (const known of ['feature', 'lib/index.js', '+1 -0', 'untracked.txt', 'Add a']) expect(text).toContain(known);
  });

  task('learns what a branch reported and merged', 'express', async (at) => {
    const { branch_id: branch } = (await at.tool('branch', { description: 'router', prompt: 'Fix it.', files: 'own' }))
      .data;
    await at.tool('safe_bash', { command: 'echo "// fixed" >>lib/router/index.js', branch });
    await at.tool('return', { branch, message: 'the router works; 3 pass', files: 'merge' });
    const text = await warmStart(at.session('after'));
    expect(text).toContain('the router works');
    expect(text).toContain('lib/router/index.js');
  });
});

describe('issue 31.4 issue 31.5 lessons', () => {
  task('a wrong option is a lesson of the difference, and no edit beside it the cause', 'flask', async (at) => {
    await at.bash('.venv/bin/python -m pip list --outdates');
    at.write('notes.txt', 'unrelated\n');
    expectRan(await at.bash('.venv/bin/python -m pip list --format json'), {});
    await personDoes(at, 'memory', 'learn');
    const lessons = await personDoes(at, 'memory', 'list', '--json');
    expect(lessons).not.toContain('notes.txt');
    expect(lessons).not.toContain('never succeeded');
    expect(await warmStart(at.session('next'), 'pip list')).not.toContain('Lessons');
  });

  task('a newer lesson takes the place of an older one, which is linked', 'express', async (at) => {
    const store = async (title: string, content: string, more = {}) =>
      (await at.tool('memory_store', { title, content, outcome: 'success', ...more })).data;
    const old = await store('Set PGCONNECT_TIMEOUT for the test database', 'PGCONNECT_TIMEOUT=2 is enough');
    const { id } = await store(
      'Set PGCONNECT_TIMEOUT for the test database',
      'PGCONNECT_TIMEOUT=10, two is too short',
      {
        replaces: old.id,
      },
    );
    const found = JSON.stringify((await at.tool('memory_search', { query: 'PGCONNECT_TIMEOUT' })).data);
    expect(found).toContain(String(id));
    expect(found).not.toContain(String(old.id));
    expect(JSON.stringify((await at.tool('memory_get', { ids: [id] })).data)).toContain(String(old.id));
  });
});

describe('issue 31.7 undo', () => {
  task('takes back the edit, not what an import or an ignored directory got after it', 'flask', async (at) => {
    await at.tool('safe_write', { path: 'mod.py', content: 'A = 1\n' });
    expectRan(await at.bash('python3 -c "import mod"'), {});
    const skipped = await personDoes(at, 'undo', '--dry-run');
    expect(skipped).toContain('mod.py');
    await personDoes(at, 'undo', '--yes');
    expect(existsSync(join(at.dir, 'mod.py'))).toBe(false);
    expect(await personDoes(at, 'undo', '--list')).toContain('safe_bash');
  });

  task('takes back nothing after an edit in an ignored directory', 'express', async (at) => {
    expectRan(await at.bash('echo work >>index.js'), {});
    expectRan(await at.bash('echo evil >node_modules/ms/index.js'), {});
    const { stdout, stderr } = await at.person('undo', '--dry-run');
    expect(stdout + stderr).not.toContain('to put back: index.js');
  });

  task('takes back a call that was killed, and directories with their modes', 'empty', async (at) => {
    expectRan(await at.bash('mkdir -p data/logs && chmod 700 data && echo before >data/logs/a'), {});
    const { pid } = JSON.parse(await personDoes(at, 'server', 'status', '--json')) as { pid: number };
    const running = at.bash('for i in $(seq 30); do echo $i >data/logs/k$i; done; sleep 100').catch(() => null);
    await appears(join(at.dir, 'data/logs'), 'k30');
    process.kill(pid, 'SIGKILL');
    await running;
    expect(await warmStart(at)).toContain('interrupted');
    await personDoes(at, 'undo', '--yes');
    expect(existsSync(join(at.dir, 'data/logs/k30'))).toBe(false);
    expect(statSync(join(at.dir, 'data')).mode & 0o777).toBe(0o700);
    expect(at.read('data/logs/a')).toBe('before\n');
  });
});
