import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type StatusFacts, statusLine } from '#src/dispatch/text/status-line.js';
import { loadCounter } from '#src/tokens/counter.js';
import { cl100k } from '../../helpers/tiktoken.ts';

const counter = loadCounter();
const SIGNALS = ['SIGHUP', 'SIGKILL', 'SIGSEGV', 'SIGVTALRM', 'SIGSTKFLT', 'SIGRTMAX-14'];

it('has at most 25 tokens, states every exit status but 0, and says how to go on', () => {
  const facts = fc.record({
    exitStatus: fc.nat(255),
    signal: fc.option(fc.constantFrom(...SIGNALS)),
    amount: fc.option(fc.record({ shown: fc.nat(2 ** 31), all: fc.nat(2 ** 31) })),
    continuation: fc.option(fc.integer({ min: 1, max: 999_999_999 })),
    spelling: fc.constantFrom('words', 'json'),
    tool: fc.oneof(fc.constantFrom('safe_bash', 'tool_view'), fc.stringMatching(/^[a-z][a-z0-9_]{0,63}$/)),
  });
  fc.assert(
    fc.property(facts, (given) => {
      const line = statusLine(counter, given);
      const isSilent = given.exitStatus === 0 && given.amount === null && given.continuation === null;
      expect(line === null).toBe(isSilent);
      if (line === null) return;
      expect(cl100k.encode(line, [], []).length).toBeLessThanOrEqual(25);
      expect(line).toMatch(/^\[contextd [^\n]+\]$/);
      if (given.exitStatus !== 0) expect(line).toContain(`exit ${given.exitStatus}`);
      const { continuation } = given;
      const ways = { words: `--continuation ${continuation}]`, json: `{"continuation":"${continuation}"}]` };
      if (continuation !== null) expect(line).toContain(ways[given.spelling]);
    }),
  );
});

it.each<[Partial<StatusFacts>, string]>([
  [{ exitStatus: 1 }, '[contextd exit 1]'],
  [
    { amount: { shown: 1_980, all: 21_742 }, continuation: 7, spelling: 'json' },
    '[contextd 1980 of 21742 tokens · rest: safe_bash {"continuation":"7"}]',
  ],
  [{ exitStatus: 137, signal: 'SIGKILL' }, '[contextd killed by SIGKILL, exit 137]'],
  [
    { amount: { shown: 1_980, all: 21_742 }, continuation: 7 },
    '[contextd 1,980 of 21,742 tokens · rest: safe_bash --continuation 7]',
  ],
  [
    { exitStatus: 1, amount: { shown: 1_980, all: 21_742 }, continuation: 7 },
    '[contextd exit 1 · 1980 of 21742 tokens · safe_bash --continuation 7]',
  ],
])('%j is stated in the words that fit', (facts, line) => {
  const none: StatusFacts = {
    exitStatus: 0,
    signal: null,
    amount: null,
    continuation: null,
    tool: 'safe_bash',
    spelling: 'words',
  };
  expect(statusLine(counter, { ...none, ...facts })).toBe(line);
});
