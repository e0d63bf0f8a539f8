import { expect, it } from 'vitest';
import { type Candidate, rank } from '#src/features/memory/rank.js';

const base: Candidate = { id: 'a', relevance: 1, confidence: 0.5, uses: 0, updatedMs: 0, tool: '', text: '' };
const candidate = (id: string, more: Partial<Candidate> = {}): Candidate => ({ ...base, id, text: id, ...more });
const order = (candidates: Candidate[], limit = 10) => rank(candidates, limit).map(({ id }) => id);

it('issue 18 ranks by relevance, then confidence and use, then the newer, then the id', () => {
  expect(order([candidate('a'), candidate('b', { relevance: 2 })])).toEqual(['b', 'a']);
  expect(order([candidate('a'), candidate('b', { confidence: 0.9 })])).toEqual(['b', 'a']);
  expect(order([candidate('a'), candidate('b', { uses: 50 })])).toEqual(['b', 'a']);
  expect(order([candidate('a'), candidate('b', { updatedMs: 1 })])).toEqual(['b', 'a']);
  expect(order([candidate('b'), candidate('a')])).toEqual(['a', 'b']);
});

it('issue 18 neither confidence nor use outweighs a relevance that is twice as high', () => {
  const certain = candidate('a', { confidence: 1, uses: 1_000_000 });
  expect(order([certain, candidate('b', { relevance: 2, confidence: 0 })])).toEqual(['b', 'a']);
});

it('issue 18 shows one of several that say nearly the same, and the others only if there is room', () => {
  const text = 'run the database migrations before integration tests';
  const same = ['a', 'b', 'c'].map((id) => candidate(id, { text, relevance: 3 }));
  const other = candidate('d', { text: 'use another port for vite' });
  expect(order([...same, other], 2)).toEqual(['a', 'd']);
  expect(order([...same, other])).toEqual(['a', 'd', 'b', 'c']);
});

it('issue 18 gives one tool a third of the places, and more only if there is room', () => {
  const ofTool = Array.from({ length: 20 }, (_, i) => candidate(`tool-${i}`, { tool: 'loud', relevance: 9 - i / 10 }));
  const person = candidate('person', { text: 'what a person said' });
  expect(order([...ofTool, person], 6)).toEqual(['tool-0', 'tool-1', 'person', 'tool-2', 'tool-3', 'tool-4']);
  expect(order([...ofTool, person], 1)).toEqual(['tool-0']);
});
