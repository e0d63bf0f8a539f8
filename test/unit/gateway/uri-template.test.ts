import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseUriTemplate, type UriTemplate } from '#src/gateway/uri-template.js';

function template(text: string): UriTemplate {
  const parsed = parseUriTemplate(text);
  if (parsed === null) throw new Error(`${text} is no template`);
  return parsed;
}

/** The values of the examples of RFC 6570, as far as they are texts. */
const VALUES = { var: 'value', hello: 'Hello World!', path: '/foo/bar', empty: '', x: '1024', y: '768' };

describe('gateway surface §9.4 a template of URIs', () => {
  it.each([
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
    ['{+hello}', 'Hello%20World!'],
    ['{+path}/here', '/foo/bar/here'],
    ['X{#var}', 'X#value'],
    ['map?{x,y}', 'map?1024,768'],
    ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['{+x,hello,y}', '1024,Hello%20World!,768'],
    ['X{.x,y}', 'X.1024.768'],
    ['{/var,x}/here', '/value/1024/here'],
    ['{;x,y,empty}', ';x=1024;y=768;empty'],
    ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
    ['{var:3}', 'val'],
    ['{?undef,x}', '?x=1024'],
    ['{undef}', ''],
  ])('%s becomes %s, as RFC 6570 says', (text, uri) => {
    expect(template(text).expand(VALUES)).toBe(uri);
  });

  it('names its variables, and which may be left out', () => {
    expect(template('repo://{owner}/{+path}{?page,owner}').variables).toEqual([
      { name: 'owner', isRequired: true },
      { name: 'path', isRequired: true },
      { name: 'page', isRequired: false },
    ]);
  });

  it.each(['{', '}', 'a{b', '{}', '{a b}', '{a,}', '{=a}', `${'{a}'.repeat(17)}`, 'x'.repeat(4_097)])(
    'refuses %s',
    (text) => {
      expect(parseUriTemplate(text)).toBeNull();
    },
  );

  it('matches every URI that it makes', () => {
    const operators = fc.constantFrom('', '+', '#', '.', '/', ';', '?', '&');
    const literal = fc.stringMatching(/^[a-z:/]{0,6}$/);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(literal, operators), { maxLength: 5 }),
        fc.array(fc.string(), { minLength: 5, maxLength: 5 }),
        (parts, texts) => {
          const text = parts.map(([before, operator], index) => `${before}{${operator}v${index}}`).join('');
          const values = Object.fromEntries(texts.map((value, index) => [`v${index}`, value]));
          const made = template(text);
          expect(made.matches(made.expand(values))).toBe(true);
        },
      ),
    );
  });

  it.each([
    ['repo://{owner}/{name}', 'repo://a/b/c'],
    ['repo://{owner}/{name}', 'other://a/b'],
    ['repo://{owner}', 'repo://a?b'],
    ['docs://{a}.md', 'docs://a.txt'],
  ])('%s does not match %s', (text, uri) => {
    expect(template(text).matches(uri)).toBe(false);
  });

  it('is matched without backtracking: the test would not end', () => {
    const greedy = template(`x://${'{+a}'.repeat(16)}!`);
    expect(greedy.matches(`x://${'a'.repeat(2_000)}`)).toBe(false);
    expect(greedy.matches(`x://${'a'.repeat(2_000)}!`)).toBe(true);
  });
});
