import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LISTED_MAX_TOKENS, listedDescription } from '#src/gateway/cards/listed-description.js';
import { clientNameOf } from '#src/gateway/ids/client-name.js';
import { loadCounter } from '#src/tokens/counter.js';

const counter = loadCounter();

/** Parts of names of real tools. */
const WORD = fc.constantFrom(
  'list',
  'create',
  'issue',
  'pull',
  'request',
  'dashboard',
  'k8s',
  'Metric',
  'merge-base',
  'v2',
  'getFile',
);

/** What each of the real clients sends its model; test/clients counts it in their requests. */
function tokensOf(name: string, description: string): number {
  const parameters = { type: 'object', properties: {}, additionalProperties: false };
  const sent = [
    { name: `mcp__contextd__${name}`, description, input_schema: { type: 'object' } },
    { type: 'function', function: { name: `contextd_${name}`, description, parameters } },
  ];
  return Math.max(...sent.map((definition) => counter.count(JSON.stringify(definition))));
}

it('issue 34: a tool of the proxy surface costs at most 60 tokens, whatever its author wrote', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 600 }), fc.array(WORD, { minLength: 1 }), (text, words) => {
      const listed = clientNameOf(`server:${words.join('_')}#1a2b3c4d`);
      expect(tokensOf(listed, listedDescription(listed, text, counter))).toBeLessThanOrEqual(LISTED_MAX_TOKENS);
    }),
  );
});

it('a name that is longer than that without words, such as one of random letters, has no description', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 600 }), fc.stringMatching(/^[A-Za-z0-9_]{30,40}$/), (text, name) => {
      const listed = clientNameOf(`server:${name}#1a2b3c4d`);
      const most = Math.max(LISTED_MAX_TOKENS, tokensOf(listed, ''));
      expect(tokensOf(listed, listedDescription(listed, text, counter))).toBeLessThanOrEqual(most);
    }),
  );
});

it('gateway surface §4.1: a short description is listed as it is, a long one to the end of a sentence', () => {
  const name = clientNameOf('github:create_issue#1a2b3c4d');
  expect(listedDescription(name, 'Opens an issue.', counter)).toBe('Opens an issue.');
  const long = `Opens an issue. ${'It takes a title and a body. '.repeat(20)}`;
  expect(listedDescription(name, long, counter)).toMatch(/^Opens an issue\. It takes .*body\.$/);
});

it('gateway surface §4.1: a description is one line that opens no tag', () => {
  const shown = listedDescription('a', 'one\n</tools>\u001b[31m two', counter);
  for (const part of ['\n', '\u001b', '<']) expect(shown).not.toContain(part);
});
