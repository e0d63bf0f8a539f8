import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallEventFacts, SessionEvent } from '#src/features/events/event.js';
import { type WarmStartFacts, warmStart } from '#src/features/warm-start/warm-start.js';
import { NO_CHANGES } from '#src/features/warm-start/workspace.js';
import { loadCounter } from '#src/tokens/counter.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { callOf, factsOf, hostile, logs, messageEvent } from '../events/made-events.ts';

const counter = loadCounter();
const countTokens = (text: string): number => counter.count(text);
const NOTHING: WarmStartFacts = {
  own: [],
  bounds: [],
  previous: null,
  checkpoints: [],
  memories: [],
  workspace: NO_CHANGES,
  task: '',
};

const seconds = fc.nat({ max: 2_000_000_000 });
const facts: fc.Arbitrary<WarmStartFacts> = fc.record({
  own: logs,
  bounds: logs,
  previous: fc.option(fc.record({ session: hostile, events: logs })),
  checkpoints: fc.array(
    fc.record({ id: hostile, session: hostile, atMs: seconds, name: hostile, summary: hostile, note: hostile }),
    {
      maxLength: 4,
    },
  ),
  memories: fc.array(fc.record({ id: hostile, title: hostile, outcome: hostile }), { maxLength: 5 }),
  workspace: fc.record({
    branch: hostile,
    changes: fc.array(
      fc.record({ added: fc.constantFrom('-', '3'), removed: fc.constantFrom('-', '1'), path: hostile }),
      {
        maxLength: 30,
      },
    ),
    commits: fc.array(fc.record({ at: seconds, id: hostile, subject: hostile }), { maxLength: 30 }),
    files: fc.array(fc.record({ at: seconds, path: hostile }), { maxLength: 30 }),
    ignored: fc.array(hostile, { maxLength: 3 }),
  }),
  task: hostile,
});

describe('issue 19.7 a warm start', () => {
  it('has room in 800 tokens, is the same each time, and lets no recorded text speak', () => {
    fc.assert(
      fc.property(facts, (given) => {
        const text = warmStart(given, countTokens);
        expect(countTokens(JSON.stringify(text))).toBeLessThanOrEqual(640);
        expect(warmStart(structuredClone(given), countTokens)).toBe(text);
        const lines = text.split('\n');
        expect(lines.pop()).toBe('');
        for (const line of lines.slice(1)) {
          expect(line).toMatch(
            /^(- |Note of|This session|Failed, and not|The code:|Open branches:|Checkpoints:|The session before:|Lessons|Changed)/,
          );
          expect(line.replaceAll(/"(?:[^"\\]|\\.)*"/gu, '""')).toMatch(/^[\w #.:;,+()×…"-]*$/u);
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|`{3}|\[(SECRET|contextd)/iu);
          for (const [quoted] of line.matchAll(/"(?:[^"\\]|\\.)*"/gu))
            expect(quoted).not.toMatch(/<[/!?]?[a-z][\w:.-]*>/i);
        }
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('issue 30.3 names commands that failed, but no refused paths and wrong arguments, until the same command succeeds, in this session or the one before', () => {
    const failed = (seq: number, subject: string, exitCode = 1) =>
      callOf(seq, subject, { facts: factsOf('safe_bash', subject, { exitCode }), artifact: `art_${seq}` });
    const own = [
      failed(4, 'npm test'),
      failed(5, 'make'),
      failed(6, 'npm test'),
      failed(7, 'grep x a'),
      callOf(8, 'cargo build'),
      ...(['PATH_INVALID', 'ARGS_INVALID', 'SECRET_UNKNOWN'] as const).map((errorCode, index) =>
        callOf(9 + index, `../${errorCode}`, { facts: factsOf('safe_read', `../${errorCode}`, { errorCode }) }),
      ),
    ];
    const previous = { session: 'one', events: [failed(1, 'cargo build'), failed(2, 'deploy', 3)] };
    const text = warmStart({ ...NOTHING, own, previous }, countTokens);
    const [, section = ''] = /succeeded since:\n((?:- .*\n)*)/.exec(text) ?? [];
    expect(section).toBe(
      [
        '- #6 1970-01-01T00:00Z safe_bash "npm test": exit 1 ×2 art_6\n',
        '- #5 1970-01-01T00:00Z safe_bash "make": exit 1 art_5\n',
        '- #2 1970-01-01T00:00Z safe_bash "deploy": exit 3\n',
      ].join(''),
    );
  });

  it('issue 31.3 says the last result of tests, which neither a build nor a wrongly written command replaces, and untracked files', () => {
    const result = (seq: number, subject: string, reported: CallEventFacts['reported'], errorLine = '') =>
      callOf(seq, subject, { facts: factsOf('safe_bash', subject, { exitCode: 1, reported, errorLine }) });
    const build = { failed: 1, passed: 0, names: [] };
    const usage = 'make: *** No rule to make target `nothing`. Stop.';
    const own = [
      result(1, 'make nothing', build, usage),
      result(2, 'make', build, 'a.c:3: error: x'),
      result(3, 'npm test', { failed: 2, passed: 2, names: ['adds'] }),
      result(4, 'make', build, 'a.c:3: error: x'),
      result(5, 'make nothing', build, usage),
    ];
    const workspace = { ...NO_CHANGES, branch: 'main', files: [{ at: 9, path: 'person.txt' }] };
    const text = warmStart({ ...NOTHING, own, workspace }, countTokens);
    expect(text).toContain('- last result #3 1970-01-01T00:00Z "npm test": 2 failed, 2 passed\n');
    expect(text).toContain('- not tracked: "person.txt"\n');
    const builds = warmStart({ ...NOTHING, own: own.slice(0, 2) }, countTokens);
    expect(builds).toContain('- last result #2 1970-01-01T00:00Z "make": 1 failed, 0 passed\n');
    expect(warmStart({ ...NOTHING, own: own.slice(0, 1) }, countTokens)).not.toContain('last result');
  });

  it('names open branches, the last checkpoints, what was asked and what was written', () => {
    const bound = (seq: number, kind: 'branch' | 'checkpoint', action: string, id: string, text: string) =>
      ({ ...messageEvent(seq, text), kind, facts: { action, id, requestId: '' } }) as SessionEvent;
    const bounds = [
      bound(1, 'branch', 'opened', 'br_1', 'find the cause'),
      bound(2, 'branch', 'opened', 'br_2', 'write the test'),
      bound(3, 'branch', 'returned', 'br_1', 'found'),
    ];
    const checkpoints = [
      {
        id: 'cp_1',
        session: '',
        atMs: 4,
        name: 'half',
        summary: '2 calls, 0 failed; "before the refactoring"',
        note: 'before the refactoring',
      },
      { id: 'cp_0', session: 'one', atMs: 3, name: '', summary: '1 call, 0 failed', note: '' },
    ];
    const own = [
      { ...messageEvent(5, 'Fix the\nlogin.'), facts: { role: 'user' } } as SessionEvent,
      callOf(6, 'src/login.ts', { facts: factsOf('safe_write', 'src/login.ts', { filesWritten: ['src/login.ts'] }) }),
    ];
    const workspace = {
      branch: 'main...origin/main [ahead 1]',
      changes: [{ added: '3', removed: '1', path: 'src/login.ts' }],
      commits: [{ at: 9, id: 'abc1234', subject: 'Bump' }],
      files: [{ at: 0, path: 'old' }],
      ignored: [],
    };
    const memories = [{ id: 'mem_1', title: 'Use port 8080', outcome: 'success' }];
    const text = warmStart({ ...NOTHING, own, bounds, checkpoints, workspace, memories }, countTokens);
    expect(text.split('\n').slice(1)).toEqual([
      'This session: 2 events, 1970-01-01T00:00Z to 1970-01-01T00:00Z.',
      'Note of cp_1: "before the refactoring"',
      'The code:',
      '- branch "main...origin/main [ahead 1]"',
      '- not committed: "src/login.ts" +3 -1',
      '- not tracked: "old"',
      '- commits abc1234 "Bump"; 1 since the last event',
      'Open branches:',
      '- #2 1970-01-01T00:00Z br_2 "write the test"',
      'Checkpoints:',
      '- cp_1 1970-01-01T00:00Z "half" "2 calls, 0 failed; \\"before the refactoring\\""',
      '- cp_0 of session one 1970-01-01T00:00Z "1 call, 0 failed"',
      'This session:',
      '- #5 asked "Fix the login."',
      '- wrote "src/login.ts"',
      '- #6 safe_write "src/login.ts": ok',
      'Lessons (memory_get):',
      '- mem_1 success "Use port 8080"',
      '',
    ]);
  });

  it('names failures of work only, uses the room that others leave, and always says how many it leaves out', () => {
    const failed = (seq: number, tool: string, errorCode: string | null, hasRun = true) => {
      const subject = `step ${seq} of a long command that says ${'a lot '.repeat(20)}`;
      return callOf(seq, subject, {
        facts: factsOf(tool, subject, { errorCode, hasRun, exitCode: errorCode === null ? 2 : null }),
      });
    };
    const misuse = [
      failed(1, 'checkpoint_restore', 'NOT_FOUND'),
      failed(2, 'branch', 'RESOURCE_LIMIT'),
      failed(3, 'safe_bash', 'NOT_FOUND', false),
    ];
    expect(warmStart({ ...NOTHING, own: misuse }, countTokens)).not.toContain('Failed');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (count) => {
        const own = Array.from({ length: count }, (_, i) =>
          failed(i + 4, 'safe_bash', i % 2 === 0 ? null : 'PERMISSION_DENIED'),
        );
        const text = warmStart({ ...NOTHING, own: [...misuse, ...own] }, countTokens);
        const [, section = ''] = /succeeded since:\n((?:- .*\n)*)/.exec(text) ?? [];
        const lines = section.trimEnd().split('\n');
        const [, more = '0'] = /^- (\d+) more$/.exec(lines.at(-1) ?? '') ?? [];
        expect(lines.length - (more === '0' ? 0 : 1) + Number(more)).toBe(count);
        if (more !== '0') expect(countTokens(JSON.stringify(text))).toBeGreaterThan(500);
        expect(countTokens(JSON.stringify(text))).toBeLessThanOrEqual(640);
      }),
      { numRuns: propertyRuns('slow') },
    );
    const [refused] = [failed(4, 'safe_bash', 'PERMISSION_DENIED', false)];
    expect(warmStart({ ...NOTHING, own: [refused] }, countTokens)).toContain('PERMISSION_DENIED');
  });

  it('shows no file of a call that a person took back as written, and says that they did', () => {
    const wrote = (seq: number, path: string, undo: string) =>
      callOf(seq, path, { facts: factsOf('safe_bash', `make ${path}`, { filesWritten: [path], undo }) });
    const undone = {
      ...messageEvent(3, 'A person undid undo_1: 1 file was put back'),
      kind: 'undo',
      facts: { action: 'undone', id: 'undo_1', requestId: '' },
    } as SessionEvent;
    const own = [wrote(1, 'gone.ts', 'undo_1'), wrote(2, 'kept.ts', 'undo_2'), undone];
    for (const given of [
      { ...NOTHING, own },
      { ...NOTHING, previous: { session: 'one', events: own } },
    ]) {
      const text = warmStart(given, countTokens);
      expect(text).toContain('- wrote "kept.ts"\n');
      expect(text).not.toMatch(/wrote .*gone\.ts/);
      expect(text).toContain('- #3 "A person undid undo_1');
    }
  });

  it('issue 31.3 names sources before what programs made, and last what git ignores, whatever its name', () => {
    const by = (seq: number, tool: string, ...filesWritten: string[]) =>
      callOf(seq, tool, { facts: factsOf(tool, `call ${seq}`, { filesWritten }) });
    const own = [
      by(1, 'safe_write', '.pytest_cache/notes.md'),
      by(2, 'safe_bash', 'src/changed.ts', 'target/new.rs', 'generated.txt'),
      by(3, 'safe_bash', 'a.pyc', 'cache/deep/b', 'node_modules2/c'),
    ];
    const changes = [{ added: '1', removed: '0', path: 'src/changed.ts' }];
    const workspace = { ...NO_CHANGES, changes, ignored: ['a.pyc', 'cache/', 'generated.txt', 'node_modules'] };
    const text = warmStart({ ...NOTHING, own, workspace }, countTokens);
    const [line = ''] = /- wrote .*/.exec(text) ?? [];
    expect(line).toBe(
      '- wrote "src/changed.ts" ".pytest_cache/notes.md" "node_modules2/c" "target/new.rs" "cache/deep/b" 2 more',
    );
  });

  it('says that there is nothing', () => {
    expect(warmStart(NOTHING, countTokens)).toContain('nothing is kept of an earlier one');
  });
});
