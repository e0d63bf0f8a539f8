import { describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import type { CallEventFacts, NewEvent } from '#src/features/events/event.js';
import { getMemories, searchMemories, sessionTag } from '#src/features/memory/memory-services.js';
import { Retrievals } from '#src/features/memory/retrievals.js';
import { WeakOutcomes } from '#src/features/memory/weak-outcomes.js';
import { factsOf } from '../events/made-events.ts';
import { draftOf, MODEL, openTestMemories, PROJECT } from './open-memories.ts';

const DISTILLED = { ...MODEL, origin: 'distilled' as const };
const RED = { reported: { failed: 1, passed: 2, names: [] } };
const GREEN = { reported: { failed: 0, passed: 3, names: [] } };
const sessionOf = (session: string) => ({ project: PROJECT, session, branch: null });

async function openOutcomes(share = 0) {
  const at = await openTestMemories();
  const retrievals = new Retrievals({ database: at.database, share, clock: at.clock, logger: silentLogger });
  const outcomes = new WeakOutcomes({ memories: at.memories, retrievals, logger: silentLogger });
  const deps = { ...at, retrievals, countTokens: (text: string) => text.length / 4 };
  const common = { at: 0, sensitivity: 'internal', text: '', artifact: null } as const;
  return {
    ...at,
    retrievals,
    outcomes,
    run: (session: string, command: string, more: Partial<CallEventFacts> = {}) =>
      outcomes.observe({
        ...common,
        session: sessionOf(session),
        kind: 'call',
        facts: factsOf('safe_bash', command, more),
      }),
    undo: (session: string, action = 'undone') =>
      outcomes.observe({
        ...common,
        session: sessionOf(session),
        kind: 'undo',
        facts: { action, id: 'undo_1', requestId: '' },
      } as NewEvent),
    read: (session: string, id: string) => getMemories(sessionOf(session), { ids: [id] }, { isCore: true }, deps),
    find: async (session: string, query: string, only = {}) => {
      const { answer } = await searchMemories(sessionOf(session), { query }, { isCore: true }, deps, only);
      return answer.memories as { title: string }[];
    },
    confidenceOf: async (id: string) => {
      await outcomes.stop();
      return (await at.memories.read(PROJECT, [id]))[0]?.confidence;
    },
  };
}

describe('issue 31.4 a distilled lesson', () => {
  it('begins at one half, is found by a search, and is in a warm start only once it has helped', async () => {
    const at = await openOutcomes();
    const { id } = await at.memories.store(PROJECT, draftOf('Migrate the database first'), DISTILLED);
    const again = { ...DISTILLED, requestIds: ['req_2'] };
    expect(await at.memories.store(PROJECT, draftOf('Migrate the database first'), again)).toMatchObject({ id });
    expect(await at.confidenceOf(id)).toBe(0.5);
    expect(await at.find('s', 'migrate')).toMatchObject([{ id, confidence: 0.5 }]);
    expect(await at.find('s', 'migrate', { confirmedOnly: true })).toEqual([]);
    await at.read('s', id);
    at.run('s', 'pytest -q | tail', RED);
    at.run('s', 'pytest -q | tail', GREEN);
    expect(await at.confidenceOf(id)).toBeCloseTo(0.6);
    expect(await at.find('t', 'migrate', { confirmedOnly: true })).toMatchObject([{ id }]);
    expect((await at.memories.read(PROJECT, [id]))[0]?.origin).toBe('distilled');
  });
});

describe('issue 31.4 an outcome that only the record shows', () => {
  type Opened = Awaited<ReturnType<typeof openOutcomes>>;
  it.each<[string, number, (at: Opened) => unknown]>([
    ['tests that failed pass', 0.6, (at) => [at.run('s', 'pytest a.py || true', RED), at.run('s', 'pytest', GREEN)]],
    ['a branch is merged', 0.6, (at) => at.outcomes.branchEnded(sessionOf('s'), 'merge')],
    ['a branch is discarded', 0.4, (at) => at.outcomes.branchEnded(sessionOf('s'), 'discard')],
    ['a person undoes changes', 0.4, (at) => at.undo('s')],
    ['a commit is reverted', 0.4, (at) => at.run('s', 'git revert --no-edit HEAD')],
    ['tests pass that passed before', 0.5, (at) => [at.run('s', 'pytest', GREEN), at.run('s', 'pytest', GREEN)]],
    ['other tests pass', 0.5, (at) => [at.run('s', 'pytest a.py', RED), at.run('s', 'npm test', GREEN)]],
    ['another session makes them pass', 0.5, (at) => [at.run('s', 'pytest', RED), at.run('t', 'pytest', GREEN)]],
    ['a person redoes changes', 0.5, (at) => at.undo('s', 'redone')],
    ['a revert fails', 0.5, (at) => at.run('s', 'git revert HEAD', { exitCode: 1 })],
    ['git is used otherwise', 0.5, (at) => at.run('s', 'git log --grep revert')],
  ])('counts half for what the session has read: %s', async (_what, confidence, happens) => {
    const at = await openOutcomes();
    const { id } = await at.memories.store(PROJECT, draftOf('Migrate first'), DISTILLED);
    const { id: unread } = await at.memories.store(PROJECT, draftOf('Restart vite'), DISTILLED);
    await at.read('s', id);
    happens(at);
    expect(await at.confidenceOf(id)).toBeCloseTo(confidence);
    expect(await at.confidenceOf(unread)).toBe(0.5);
  });

  it('never replaces a report, and a report replaces it', async () => {
    const at = await openOutcomes();
    const { id } = await at.memories.store(PROJECT, draftOf('Migrate first'), DISTILLED);
    await at.read('s', id);
    at.undo('s');
    expect(await at.confidenceOf(id)).toBeCloseTo(0.4);
    const by = { session: sessionTag(sessionOf('s')), requestId: 'req_9' };
    await at.memories.giveFeedback(PROJECT, { id, outcome: 'success', note: '' }, by);
    expect(await at.confidenceOf(id)).toBeCloseTo(2 / 3);
    at.undo('s');
    expect(await at.confidenceOf(id)).toBeCloseTo(2 / 3);
  });

  it('answers for all distilled memories together whether they help, in sessions of which none reports', async () => {
    const at = await openOutcomes(0.5);
    for (const [place, word] of ['alpha', 'beta', 'gamma', 'delta'].entries()) {
      const author = place < 2 ? DISTILLED : MODEL;
      await at.memories.store(PROJECT, draftOf(`Use ${word} first`), author);
    }
    for (let i = 0; i < 60; i++) {
      const session = `s${i}`;
      const helped = (await at.find(session, 'alpha')).length > 0;
      await at.find(session, 'gamma');
      if (helped) at.outcomes.branchEnded(sessionOf(session), 'merge');
      else at.undo(session);
      await at.outcomes.stop();
    }
    const [written, distilled, imported] = await at.retrievals.reportKinds(PROJECT);
    expect(distilled).toMatchObject({ kind: 'distilled', reported: 0, weak: 60, open: 0, verdict: 'helps' });
    expect(written).toMatchObject({ kind: 'written', weak: 60 });
    expect(written?.verdict).not.toBe('helps');
    expect(imported).toMatchObject({ kind: 'imported', weak: 0, verdict: 'too little data' });
  });
});
