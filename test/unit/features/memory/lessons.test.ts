import { describe, expect, it } from 'vitest';
import { lessonsOf, type RecordedCall } from '#src/features/memory/distill/lessons.js';
import { readDraft } from '#src/features/memory/item.js';
import { seededRandom } from '../../../helpers/secret-samples.ts';

const WORK = { task: '', outcome: null };
let count = 0;

function command(subject: string, error?: string): RecordedCall {
  count += 1;
  const requestId = `req_${String(count).padStart(6, '0')}`;
  return {
    requestId,
    session: 'one',
    kind: 'command',
    subject,
    detail: '',
    isFailure: error !== undefined,
    changesFiles: false,
    error: error ?? '',
  };
}
const edit = (subject: string, detail: string): RecordedCall => ({ ...command(subject), kind: 'edit', detail });
const changing = (subject: string): RecordedCall => ({ ...command(subject), changesFiles: true });
const HEREDOC = "python - <<'P'\nprint(parse_header_links('<a>'))\nP";

/** Sequences as agents made them, the titles of their lessons, and what no lesson may name as the cause. */
const PLAYED: readonly (readonly [string, readonly RecordedCall[], readonly string[], RegExp])[] = [
  [
    'a flag that does not exist',
    [
      command('pytest tests/test_utils.py --no-such-flag', 'ERROR: unrecognized arguments: --no-such-flag'),
      edit('tests/test_utils.py', '-"b": "c"\n+"b": "c", "x": None'),
      command('pytest tests/test_utils.py'),
    ],
    [
      'pytest tests/test_utils.py --no-such-flag failed (ERROR: unrecognized arguments: --no-such-flag): what works instead',
    ],
    /"x": None|It succeeded after/,
  ],
  [
    'a test that does not exist',
    [
      command('pytest x.py::test_nonexistent', 'ERROR: not found: x.py::test_nonexistent'),
      command(HEREDOC),
      command('pytest x.py | tail -3'),
    ],
    ['pytest x.py::test_nonexistent failed (ERROR: not found: x.py::test_nonexistent): what works instead'],
    /parse_header_links|It succeeded after/,
  ],
  [
    'a misspelt option',
    [command('pip list --outdates', 'no such option: --outdates'), command('pip list --outdated --format json | head')],
    ['pip list --outdates failed (no such option: --outdates): what works instead'],
    /never succeeded|another way/,
  ],
  [
    'a misspelt option of git',
    [
      command('git log --max-counts=3', 'fatal: unrecognized argument: --max-counts=3'),
      command('git log --max-count=3'),
    ],
    ['git log --max-counts=3 failed (fatal: unrecognized argument: --max-counts=3): what works instead'],
    /It succeeded after/,
  ],
  [
    'a flaky test',
    [
      command('pytest -q', 'E   TimeoutError'),
      command('pytest -q'),
      command('pytest -q', 'E   TimeoutError'),
      command('pytest -q'),
    ],
    ['pytest -q is flaky (E TimeoutError)'],
    /It succeeded after/,
  ],
  [
    'a library that is not linked, repaired by a program that else only looks',
    [
      command('make', "undefined reference to `sqrt'"),
      command('cat Makefile'),
      changing("sed -i 's/$/ -lm/' Makefile"),
      command('make'),
    ],
    ["make failed (undefined reference to `sqrt'): what made it succeed"],
    /cat Makefile/,
  ],
  [
    'a module that is missing',
    [
      command('python app.py', 'Traceback (most recent call last):\nModuleNotFoundError: No module named x'),
      edit('app.py', '-import x\n+import y'),
      command('python app.py'),
    ],
    ['python app.py failed (ModuleNotFoundError: No module named x): what made it succeed'],
    /never succeeded/,
  ],
];

describe('lessons without a model', () => {
  it('issue 18 say which edit turned a failure into a success, with the error that taught it and the ids of the calls', () => {
    const calls = [
      command('npm test', 'Error: no such table: users'),
      command('cat src/db.ts'),
      edit('src/db.ts', '-open()\n+open({ migrate: true })'),
      command('npm  test'),
      command('ls'),
    ];
    const [lesson, ...others] = lessonsOf(calls, WORK);
    expect(others).toEqual([]);
    expect(lesson?.draft).toMatchObject({
      title: 'npm test failed (Error: no such table: users): what made it succeed',
      outcome: 'success',
      tags: ['npm'],
      context: 'src/db.ts',
      content: [
        'Failed once: npm test',
        '    Error: no such table: users',
        'It succeeded after:',
        '- changed src/db.ts',
        '    -open()',
        '    +open({ migrate: true })',
      ].join('\n'),
    });
    expect(lesson?.requestIds).toEqual([calls[0], calls[2], calls[3]].map((call) => call?.requestId));
  });

  it('issue 18 name the other command that succeeded, and how often the first ones failed', () => {
    const calls = [
      command('cd api && pip install requests==9', 'ERROR: No matching distribution'),
      command('cd api && pip install requests==8', 'ERROR: No matching distribution'),
      command('cd api && pip install requests'),
    ];
    const [lesson] = lessonsOf(calls, WORK);
    expect(lesson?.draft.content).toContain('Failed 2 times: cd api && pip install requests==8');
    expect(lesson?.draft.content).toContain(
      'Worked: cd api && pip install requests\nThe difference: requests instead of requests==8',
    );
    expect(lesson?.requestIds).toHaveLength(3);
  });

  it('issue 18 keep what never succeeded as a failure', () => {
    const calls = [
      command('make all', 'undefined reference to foo'),
      edit('a.c', '+int foo;'),
      command('make all', 'undefined reference to baz'),
      edit('a.c', '+int baz;'),
      command('make all', 'undefined reference to bar'),
    ];
    expect(lessonsOf(calls, WORK).map(({ draft }) => draft)).toMatchObject([
      { outcome: 'failure', title: 'make all fails (undefined reference to bar)' },
    ]);
    expect(lessonsOf(calls, { task: 'Build it', outcome: null })).toHaveLength(2);
    expect(lessonsOf(calls.slice(0, 3), WORK)).toEqual([]);
    const [first, , again] = calls as [RecordedCall, RecordedCall, RecordedCall];
    expect(lessonsOf([first, { ...again, session: 'two' }], WORK)).toHaveLength(1);
  });

  it.each(PLAYED)(
    'issue 31.4 name the cause that the record shows, and no other: %s',
    (_what, calls, titles, never) => {
      const lessons = lessonsOf(calls, WORK).map(({ draft }) => draft);
      expect(lessons.map(({ title }) => title)).toEqual(titles);
      for (const { title, description, content } of lessons)
        expect(`${title}\n${description}\n${content}`).not.toMatch(never);
    },
  );

  it.each([
    ['pytest -q --no-such-flag', 'ERROR: unrecognized arguments: --no-such-flag', 'pytest -q'],
    ['pip list --outdates', 'no such option: --outdates', 'pip list --outdated --format json | head'],
    ['git log --max-counts=3', 'fatal: unrecognized argument: --max-counts=3', 'git log --max-count=3 -p src'],
    ['pytest x.py::test_none', 'ERROR: not found: x.py::test_none', 'pytest x.py::test_real | tail -3'],
  ])('issue 31.4 give the difference of `%s` (%s) and `%s`, and not the edits between', (failed, error, worked) => {
    const calls = [command(failed, error), edit('a.py', '-1\n+2'), command('touch b'), command(worked)];
    const [lesson] = lessonsOf(calls, WORK);
    expect(lesson?.draft.content).toContain(`Worked: ${worked}`);
    expect(lesson?.draft.content).not.toContain('a.py');
    expect(lesson?.requestIds).toEqual([calls[0]?.requestId, calls[3]?.requestId]);
  });

  it('issue 31.4 do not take another test for a correction, name what is flaky, and give the line that says why', () => {
    const other = [command('pytest a.py', 'E   assert 1 == 2'), edit('c.py', '+1'), command('pytest b.py')];
    expect(lessonsOf(other, WORK)).toEqual([]);
    const runs = [true, false, true, false].map((fails) =>
      command('pytest -q', fails ? 'E   TimeoutError: 5 s' : undefined),
    );
    expect(lessonsOf(runs, WORK).map(({ draft }) => draft)).toMatchObject([
      { title: 'pytest -q is flaky (E TimeoutError: 5 s)', outcome: 'mixed' },
    ]);
    const trace = 'Traceback (most recent call last):\n  File "app.py", line 1\nModuleNotFoundError: No module named x';
    const [lesson] = lessonsOf(
      [command('python app.py', trace), edit('app.py', '-import x'), command('python app.py')],
      WORK,
    );
    expect(lesson?.draft.title).toBe(
      'python app.py failed (ModuleNotFoundError: No module named x): what made it succeed',
    );
  });

  it('issue 18 tell the steps of a named task, with the outcome that is given or that the calls show', () => {
    const calls = [command('npm install'), command('grep -r port .', ''), edit('vite.config.ts', '+port: 4000')];
    const outcomes = [null, 'failure' as const].map((outcome) =>
      lessonsOf(calls, { task: 'Change the port', outcome }),
    );
    expect(outcomes.map(([one]) => one?.draft.outcome)).toEqual(['success', 'failure']);
    const [first] = outcomes[0] ?? [];
    expect(first?.draft).toMatchObject({ title: 'Change the port', task: 'Change the port' });
    expect(first?.draft.content).not.toContain('grep');
    expect(lessonsOf(calls, WORK)).toEqual([]);
  });

  it('issue 18 do not come from a search that finds nothing, nor from a failure that passed by itself', () => {
    expect(lessonsOf([command('rg foo', ''), command('git status'), command('rg foo')], WORK)).toEqual([]);
    expect(lessonsOf([command('npm test', 'timeout'), command('ls'), command('npm test')], WORK)).toEqual([]);
    expect(lessonsOf([], { task: 'Nothing', outcome: 'success' })).toEqual([]);
  });

  it('issue 18 can be stored, and hold nothing that no call says', () => {
    const random = seededRandom(5);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const words = [
      'npm',
      'test',
      'build',
      'src/a.ts',
      '--force',
      'x'.repeat(700),
      'git',
      'ls',
      '&&',
      'A=1',
      '\n',
      '|',
      '',
    ];
    for (let round = 0; round < 500; round++) {
      const calls = Array.from({ length: Math.floor(random() * 30) }, () => {
        const text = Array.from({ length: Math.floor(random() * 5) }, () => pick(words)).join(' ');
        return random() < 0.3
          ? edit(text, pick(words))
          : command(text, random() < 0.5 ? pick(['', 'E1', 'y'.repeat(3_000)]) : undefined);
      });
      const lessons = lessonsOf(calls, { task: pick(['', 'Task']), outcome: null });
      const ids = new Set(calls.map(({ requestId }) => requestId));
      for (const { draft, requestIds } of lessons) {
        expect(() => readDraft({ ...draft, tags: [...draft.tags] })).not.toThrow();
        expect(requestIds.length).toBeGreaterThan(0);
        expect(requestIds.every((id) => ids.has(id))).toBe(true);
      }
    }
  });
});
