import { expect, it } from 'vitest';
import { dryRunNote } from '#src/dispatch/text/notes.js';

const allows = { check: 'grants', allowed: true, reason: 'the tool has its grants' };
const asks = { check: 'approval', allowed: false, reason: 'the rule "push" asks a person about this call', asks: true };

it('issue 32.3 the line of a dry run says that a person would be asked, as its JSON does', () => {
  expect(dryRunNote({ checks: [allows, asks] })).toBe(
    'dry run: the call would wait for a person: the rule "push" asks a person about this call',
  );
  expect(dryRunNote({ checks: [allows] })).toBe('dry run: every check allows the call');
});
