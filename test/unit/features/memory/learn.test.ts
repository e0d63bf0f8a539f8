import { describe, expect, it } from 'vitest';
import {
  isContradiction,
  isToQuarantine,
  meanOf,
  nearDuplicateOf,
  PRIORS,
  posteriorOf,
  similarity,
} from '#src/features/memory/learn.js';
import { draftOf } from './open-memories.ts';

const LESSON = draftOf('Run the database migrations before the integration tests', {
  content: 'The test database is empty after a rebase, so the integration tests fail until npm run migrate has run.',
});

describe('a near-duplicate', () => {
  it('issue 18 says the same with nearly the same words', () => {
    const again = { ...LESSON, title: 'Run database migrations before integration tests!' };
    expect(nearDuplicateOf(LESSON)(again)).toBe(true);
  });

  const TIMEOUT = draftOf('Set PGCONNECT_TIMEOUT=2 before running the database tests', {
    content: 'The database container takes long to start; without PGCONNECT_TIMEOUT=2 the tests hang for a minute.',
  });

  it('issue 31.5 says the same in a paraphrase: other forms and order of the words, and a few others', () => {
    const paraphrase = {
      ...TIMEOUT,
      title: 'Before you run database tests, set PGCONNECT_TIMEOUT=2',
      content:
        'Without PGCONNECT_TIMEOUT=2 a test hangs for minutes, because the containers of the databases take long to start.',
    };
    expect(nearDuplicateOf(TIMEOUT)(paraphrase)).toBe(true);
  });

  it.each([
    ['another value', (text: string) => text.replaceAll('=2', '=10')],
    ['a quoted literal', (text: string) => text.replace('database container', '"pg main" container')],
    ['other backticks', (text: string) => text.replace('the tests hang', 'the `unit suite` hangs')],
  ])('issue 31.5 is no paraphrase with %s', (_what, change) => {
    const other = { ...TIMEOUT, title: change(TIMEOUT.title), content: change(TIMEOUT.content) };
    expect(nearDuplicateOf(TIMEOUT)(other)).toBe(false);
    expect(nearDuplicateOf(other)(other)).toBe(true);
  });

  it('issue 31.5 is not a lesson about something else with the same sentences', () => {
    const content = 'It keeps the old configuration until it is started again.';
    const one = draftOf('Restart the api server after a deploy', { content });
    expect(nearDuplicateOf(one)({ ...one, title: 'Restart the web server after a deploy' })).toBe(false);
    expect(nearDuplicateOf(one)({ ...one, content: 'Its certificates are read at the start only.' })).toBe(false);
  });

  it.each([
    ['another number', { content: `${LESSON.content} Use port 8080.` }],
    ['a negation', { title: `Never ${LESSON.title}` }],
    ['another outcome', { outcome: 'failure' as const }],
    ['another path', { content: LESSON.content.replace('npm run migrate', './migrate') }],
    ['a long text, whatever it says', { content: `${LESSON.content} `.repeat(80) }],
    ['other words', { content: 'Vite needs a newer Node for its dev server.' }],
  ])('issue 18 is not what has %s', (_what, change) => {
    expect(nearDuplicateOf(LESSON)({ ...LESSON, ...change })).toBe(false);
  });
});

describe('a contradiction', () => {
  it('issue 18 is the opposite outcome of a similar task', () => {
    const failed = draftOf('Something else', { outcome: 'failure', task: 'make the integration tests pass' });
    expect(isContradiction({ ...LESSON, task: 'make integration tests pass' }, failed)).toBe(true);
    expect(isContradiction(LESSON, { ...LESSON, outcome: 'failure' })).toBe(true);
  });

  it('issue 18 is not two successes, a mixed outcome, or another task', () => {
    expect(isContradiction(LESSON, LESSON)).toBe(false);
    expect(isContradiction(LESSON, { ...LESSON, outcome: 'mixed' })).toBe(false);
    expect(isContradiction(LESSON, draftOf('Deploy on Friday', { outcome: 'failure' }))).toBe(false);
  });
});

describe('the posterior', () => {
  it('FR-5.4 begins with the prior of who stored it, and moves with the evidence', () => {
    expect(meanOf(PRIORS.person)).toBeCloseTo(0.8);
    expect(meanOf(PRIORS.model)).toBeGreaterThan(meanOf(PRIORS.tool));
    expect(meanOf(posteriorOf(PRIORS.model, { good: 1, bad: 0 }))).toBeCloseTo(0.75);
    expect(meanOf(posteriorOf(PRIORS.model, { good: 0, bad: 1 }))).toBeCloseTo(0.5);
  });

  it('issue 18 sets aside what failed three times and mostly fails, and brings back what mostly helps', () => {
    const posterior = (good: number, bad: number) => posteriorOf(PRIORS.model, { good, bad });
    expect(isToQuarantine(posterior(0, 2), 2, false)).toBe(false);
    expect(isToQuarantine(posterior(0, 3), 3, false)).toBe(true);
    expect(isToQuarantine(posterior(4, 3), 3, false)).toBe(false);
    expect(isToQuarantine(posterior(1, 3), 3, true)).toBe(true);
    expect(isToQuarantine(posterior(3, 3), 3, true)).toBe(false);
  });
});

it('issue 18 similarity is the share of words in common', () => {
  expect(similarity(new Set(['a', 'b']), new Set(['b', 'c']))).toBeCloseTo(1 / 3);
  expect(similarity(new Set(), new Set(['a']))).toBe(0);
});
