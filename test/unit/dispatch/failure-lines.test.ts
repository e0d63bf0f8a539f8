import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NO_FACTS } from '#src/call/outcome.js';
import { ContextdError, ERROR_TABLE, type ErrorCode } from '#src/core/errors.js';
import { notesOf } from '#src/dispatch/text/notes.js';
import { loadCounter } from '#src/tokens/counter.js';
import { cl100k } from '../../helpers/tiktoken.ts';

const counter = loadCounter();
const tokens = (line: string): number => cl100k.encode(line, [], []).length;
const BASE = { data: {}, facts: NO_FACTS, failure: null };
const CODES = Object.keys(ERROR_TABLE) as ErrorCode[];

it('the line that states a failure has at most 25 tokens, whatever the error, and the rest is on a line of its own', () => {
  const texts = fc.oneof(fc.lorem({ maxCount: 40 }), fc.string({ minLength: 1, maxLength: 200 }));
  fc.assert(
    fc.property(fc.constantFrom(...CODES), texts, fc.option(texts), (code, message, remedy) => {
      const failure = new ContextdError(code, message, remedy === null ? {} : { remedy });
      const [status = '', ...rest] = notesOf({ ...BASE, failure }, {}, 2_000, counter, 'flag');
      expect(status).toMatch(new RegExp(`^\\[contextd exit \\d+ · ${code}(?::|\\])`));
      expect(tokens(status)).toBeLessThanOrEqual(25);
      expect(rest.length).toBeLessThanOrEqual(1);
    }),
  );
});

it('a text that is not UTF-8 is named with its encoding within 25 tokens', () => {
  const lines = (path: string) =>
    notesOf({ ...BASE, data: { path, encoding: 'windows-1252' } }, {}, 2_000, counter, 'flag');
  expect(lines('latin1.txt')).toEqual(['[contextd encoding: windows-1252 (latin1.txt)]']);
  for (const line of lines('a/b/c/'.repeat(30))) expect(tokens(line)).toBeLessThanOrEqual(25);
});
