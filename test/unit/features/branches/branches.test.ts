import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { ContextdError } from '#src/core/errors.js';
import { BRANCH_LIMITS } from '#src/features/branches/branch.js';
import { BranchStore } from '#src/features/branches/branch-store.js';
import { Branches } from '#src/features/branches/branches.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { makeTempDir, openTestDatabase, TestClock } from '../../stores/open-stores.js';

const ROOT = '/home/ann/shop';
const MINUTE_MS = 60_000;
const TASK = {
  description: 'find it',
  prompt: 'Find it.',
  budgetTokens: 1_000,
  timeoutMs: 30 * MINUTE_MS,
  files: 'shared' as const,
};

const REPORT = { message: 'found', requestId: '', tool: 'return', files: 'merge' as const };
/** Nothing here reads events. */
const events = { append: () => {} };
/** Files of branches are tested in test/integration/branch-files.test.ts. */
const files = {
  start: async () => {},
  clean: async () => {},
  open: async () => ({ kind: 'overlay' as const, notice: null }),
  merge: async () => ({ changes: null, skipped: [], commits: [], quarantined: [] }),
  discard: async () => {},
  plan: async () => Promise.reject(new Error('not asked')),
  patch: async () => Promise.reject(new Error('not asked')),
};

interface Known {
  id: string;
  session: string;
  parent: string | null;
  spent: number;
  endsMs: number;
}

/** What is expected of branches, as a list. */
class Model {
  open: Known[] = [];

  of(session: string): Known[] {
    return this.open.filter((one) => one.session === session);
  }

  depth(id: string | null): number {
    const known = this.open.find((one) => one.id === id);
    return known === undefined ? 0 : 1 + this.depth(known.parent);
  }

  close(id: string): void {
    for (const child of this.open.filter(({ parent }) => parent === id)) this.close(child.id);
    this.open = this.open.filter((one) => one.id !== id);
  }
}

const session = fc.constantFrom('a', 'b');
const pick = fc.nat(12);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant<'open'>('open'), session, pick }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant<'return'>('return'), session, pick }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant<'call'>('call'), session, pick, tokens: fc.integer({ min: 1, max: 700 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant<'wait'>('wait'), minutes: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant<'restart'>('restart') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant<'end'>('end'), session }) },
);

const codeOf = async (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (thrown: unknown) => ContextdError.from(thrown).code,
  );

describe('the branches of sessions', () => {
  it('issue 19 part 3 keep to depth, number, tokens and time over returns, restarts and ends of sessions', async () => {
    const database = await openTestDatabase(await makeTempDir());
    const clock = new TestClock();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), async (steps) => {
        const project = `${ROOT}-${++run}`;
        const stopped: string[] = [];
        const build = () =>
          new Branches({
            files,
            store: new BranchStore(database),
            events,
            stopJobs: async ({ branch }) => void stopped.push(String(branch)),
            clock,
          });
        let branches = build();
        await branches.start();
        const model = new Model();
        const refOf = (name: string, branch: string | null): SessionRef => ({ project, session: name, branch });
        /** The base, or one of the open branches. */
        const picked = (name: string, at: number): string | null => {
          const own = model.of(name);
          return own[at % (own.length + 1)]?.id ?? null;
        };
        for (const [number, one] of steps.entries()) {
          if (one.do === 'wait') {
            clock.nowMs += one.minutes * MINUTE_MS;
            await branches.endOverdue();
            const isOver = ({ endsMs }: Known): boolean => clock.nowMs - endsMs >= 15 * MINUTE_MS;
            for (const known of model.open.filter(isOver)) model.close(known.id);
          } else if (one.do === 'restart') {
            await branches.stop();
            branches = build();
            await branches.start();
          } else if (one.do === 'end') {
            await branches.endSession(refOf(one.session, null));
            for (const known of model.of(one.session)) model.close(known.id);
          } else if (one.do === 'open') {
            const parent = picked(one.session, one.pick);
            const isRefused = model.depth(parent) >= 3 || model.of(one.session).length >= 10;
            const opened = await branches.open(refOf(one.session, parent), TASK, '').catch((thrown) => thrown);
            if (isRefused) {
              expect(opened).toMatchObject({ code: 'RESOURCE_LIMIT' });
              continue;
            }
            const parentEnds = model.open.find(({ id }) => id === parent)?.endsMs ?? Number.POSITIVE_INFINITY;
            const endsMs = Math.max(clock.nowMs + 1, Math.min(clock.nowMs + TASK.timeoutMs, parentEnds));
            model.open.push({ id: opened.id, session: one.session, parent, spent: 0, endsMs });
          } else if (one.do === 'return') {
            const id = picked(one.session, one.pick);
            if (id === null) continue;
            const before = model.open.map((known) => known.id);
            const { children } = await branches.close(refOf(one.session, id), REPORT);
            model.close(id);
            const gone = before.filter((was) => !model.open.some((known) => known.id === was));
            expect([...children, id].sort()).toEqual(gone.sort());
            for (const closed of gone) expect(stopped).toContain(closed);
            expect(await codeOf(branches.enter(refOf(one.session, id), 'return'))).toBe('CONFLICT');
            expect(await codeOf(branches.enter(refOf('c', id), 'return'))).toBe('NOT_FOUND');
          } else {
            const id = picked(one.session, one.pick);
            const known = model.open.find((it) => it.id === id);
            if (known === undefined) continue;
            expect(await codeOf(branches.enter(refOf('c', id), 'return'))).toBe('NOT_FOUND');
            const ref = refOf(one.session, known.id);
            const isOver = known.spent >= TASK.budgetTokens || clock.nowMs >= known.endsMs;
            expect(await codeOf(branches.enter(ref, 'command'))).toBe(isOver ? 'RESOURCE_LIMIT' : null);
            expect(await codeOf(branches.enter(ref, 'return'))).toBeNull();
            if (isOver) continue;
            const share = (known.spent + one.tokens) / TASK.budgetTokens;
            if (share >= 0.8) expect(branches.warning(ref, one.tokens)).toContain(`of its ${TASK.budgetTokens} tokens`);
            await branches.charge(ref, { requestId: `req_${run}_${number}`, tool: 'safe_bash', tokens: one.tokens });
            known.spent += one.tokens;
          }
          for (const name of ['a', 'b']) {
            const state = branches.of(refOf(name, null)).map(({ id, spentTokens }) => [id, spentTokens]);
            expect(state.sort()).toEqual(
              model
                .of(name)
                .map(({ id, spent }) => [id, spent])
                .sort(),
            );
          }
        }
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('issue 19 part 3 a branch whose jobs cannot be stopped stays open', async () => {
    const database = await openTestDatabase(await makeTempDir());
    let fault: Error | null = new Error('busy');
    const branches = new Branches({
      store: new BranchStore(database),
      files,
      events,
      stopJobs: async () => {
        if (fault !== null) throw fault;
      },
      clock: new TestClock(),
    });
    const base = { project: ROOT, session: 'a', branch: null };
    const { id } = await branches.open(base, TASK, '');
    const ref = { ...base, branch: id };
    await expect(branches.close(ref, REPORT)).rejects.toThrow('busy');
    expect(branches.of(base)).toHaveLength(1);
    fault = null;
    await branches.close(ref, REPORT);
    expect(branches.of(base)).toEqual([]);
  });

  it('issue 19 part 3 two returns at once close a branch once', async () => {
    const database = await openTestDatabase(await makeTempDir());
    const store = new BranchStore(database);
    const branches = new Branches({ store, files, events, stopJobs: async () => {}, clock: new TestClock() });
    const base = { project: ROOT, session: 'a', branch: null };
    const { id, brief } = await branches.open(base, TASK, '');
    expect(brief).toContain(TASK.prompt);
    const both = [1, 2].map(() => codeOf(branches.close({ ...base, branch: id }, REPORT)));
    expect((await Promise.all(both)).sort()).toEqual(['CONFLICT', null].sort());
    expect(BRANCH_LIMITS).toMatchObject({ depth: 3, openPerSession: 10 });
  });

  it('issue 19 part 4 a call sees the files of its branch and of those around it, also after a restart, and never those of another', async () => {
    const store = new BranchStore(await openTestDatabase(await makeTempDir()));
    const build = () => new Branches({ store, files, events, stopJobs: async () => {}, clock: new TestClock() });
    let branches = build();
    const base = { project: ROOT, session: 'a', branch: null };
    const at = (branch: string) => ({ ...base, branch });
    const open = async (parent: string | null, files: 'own' | 'shared') =>
      (await branches.open({ ...base, branch: parent }, { ...TASK, files }, '')).id;
    const outer = await open(null, 'own');
    const middle = await open(outer, 'shared');
    const inner = await open(middle, 'own');
    const plain = await open(null, 'shared');
    const expected = () => {
      expect(branches.layersOf(base)).toBeNull();
      expect(branches.layersOf(at(plain))).toBeNull();
      expect(branches.layersOf(at(middle))).toEqual([outer]);
      expect(branches.layersOf(at(inner))).toEqual([outer, inner]);
    };
    expected();
    await branches.stop();
    branches = build();
    await branches.start();
    expected();
    await branches.close(at(plain), REPORT);
    expect(branches.layersOf(at(plain))).toBeNull();
    await branches.close(at(outer), REPORT);
    for (const id of [outer, middle, inner]) expect(() => branches.layersOf(at(id))).toThrow('is closed');
  });

  it('NFR-2.3: the files of a branch are not merged while a call of the daemon before works on them, or waits to begin there', async () => {
    const store = new BranchStore(await openTestDatabase(await makeTempDir()));
    const branches = new Branches({ store, files, events, stopJobs: async () => {}, clock: new TestClock() });
    const base = { project: ROOT, session: 'a', branch: null };
    const at = (branch: string) => ({ ...base, branch });
    const outer = (await branches.open(base, { ...TASK, files: 'own' }, '')).id;
    const inner = (await branches.open(at(outer), { ...TASK, files: 'shared' }, '')).id;
    const merge = () =>
      codeOf(branches.endFiles(ROOT, outer, { end: 'merge', resolutions: null, call: { requestId: '', tool: '' } }));
    const cases: [Parameters<typeof branches.adopt>, string | null][] = [
      [['req_1', new Map([['req_1', outer]]), base], 'CONFLICT'],
      [['req_1', new Map(), at(outer)], 'CONFLICT'],
      [['req_1', new Map(), at(inner)], 'CONFLICT'],
      [['req_1', new Map(), base], null],
      [['req_1', new Map(), at('unknown')], null],
    ];
    for (const [call, code] of cases) {
      const release = branches.adopt(...call);
      expect(await merge()).toBe(code);
      release();
    }
    expect(await merge()).toBeNull();
    await branches.close(at(outer), REPORT);
    expect(() => branches.adopt('req_1', new Map(), at(inner))()).not.toThrow();
  });
});
