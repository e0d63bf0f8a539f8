import { expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { failureLine } from '#src/daemon/program.js';

it('holds the sentence and the remedy in one line', () => {
  const error = new ContextdError('CONFLICT', 'taken\n by another', { remedy: 'End it.' });
  expect(failureLine(error)).toBe('contextd: taken by another. End it.');
  expect(failureLine(new ContextdError('CONFLICT', 'taken'))).toBe('contextd: taken');
});

it('describes an unexpected error without a stack', () => {
  const line = failureLine(new TypeError('x is not a function'));
  expect(line).toMatch(/^contextd: cannot start: x is not a function\. Run /);
  expect(line).not.toContain('\n');
});
