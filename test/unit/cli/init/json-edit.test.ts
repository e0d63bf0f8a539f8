import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addEntry, hasEntry, insert, missingContainers, removeEntry, withdraw } from '#src/cli/init/json-edit.js';
import { locate } from '#src/cli/init/json-text.js';

const ALLOW = { path: ['permissions', 'allow'], value: 'Bash(x)' };
const add = (text: string) => addEntry({ text, insertions: [] }, ALLOW).text;

/** Any JSON text of an object: values of any kind, in any usual style, with odd white space. */
const anyObjectText = fc
  .tuple(
    fc.dictionary(fc.oneof(fc.constantFrom('permissions', 'allow', '__proto__', 'a"b'), fc.string()), fc.jsonValue()),
    fc.option(fc.array(fc.string()), { nil: undefined }),
    fc.constantFrom<string | number | undefined>(undefined, 1, 2, 4, '\t'),
    fc.constantFrom('\n', '\r\n'),
    fc.constantFrom('', ' ', '\n', '\n\n\t '),
  )
  .map(([object, allow, indent, eol, around]) => {
    const value = allow === undefined ? object : { ...object, permissions: { allow } };
    return around + JSON.stringify(value, null, indent).replaceAll('\n', eol) + around;
  });

describe('adding to a JSON text', () => {
  it.each([
    ['{}', '{\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n}'],
    ['{\n}\n', '{\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n}\n'],
    ['{"a":1}', '{"a":1,"permissions":{"allow":["Bash(x)"]}}'],
    ['{ "a": 1, "b": 2 }', '{ "a": 1, "b": 2, "permissions": {"allow":["Bash(x)"]} }'],
    ['{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"Bash(x)"\n\t\t]\n\t}\n}'],
    ['{"permissions":{"allow":["a", "b"]}}', '{"permissions":{"allow":["a", "b", "Bash(x)"]}}'],
    [
      '{\n  "permissions": {\n    "allow": [\n      "a"\n    ]\n  }\n}',
      '{\n  "permissions": {\n    "allow": [\n      "a",\n      "Bash(x)"\n    ]\n  }\n}',
    ],
    ['{\r\n "permissions": {"allow": []}\r\n}', '{\r\n "permissions": {"allow": [\r\n  "Bash(x)"\r\n ]}\r\n}'],
    ['{"permissions":1,"permissions":{}}', '{"permissions":1,"permissions":{\n  "allow": [\n    "Bash(x)"\n  ]\n}}'],
  ])('follows the style of %j', (before, after) => {
    expect(add(before)).toBe(after);
  });

  it.each([
    ['[]', 'the file is not an object'],
    ['{"permissions":[]}', 'permissions is not an object'],
    ['{"permissions":{"allow":"Bash"}}', 'permissions.allow is not an array'],
  ])('refuses %j', (text, message) => {
    expect(() => add(text)).toThrow(message);
  });

  it.each(['', '{', '// c\n{}', '{"a":1,}', '\uFEFF{}', '{} {}'])('does not accept %j as JSON', (text) => {
    expect(() => locate(text)).toThrow(SyntaxError);
  });

  it('refuses a text nested so deeply that walking it would end the program', () => {
    expect(() => locate('['.repeat(100_000) + ']'.repeat(100_000))).toThrow('nested deeper than 200');
  });

  it('changes nothing else, whatever the text, and can be undone to the byte', () => {
    fc.assert(
      fc.property(anyObjectText, (text) => {
        const before: unknown = JSON.parse(text);
        let added: ReturnType<typeof addEntry>;
        try {
          added = addEntry({ text, insertions: [] }, ALLOW);
        } catch {
          return;
        }
        expect(hasEntry(added.text, ALLOW)).toBe(true);
        expect(withdraw(added)).toBe(text);
        const containers = missingContainers(text, ALLOW);
        expect(JSON.parse(removeEntry(added.text, ALLOW, containers))).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  it('finds the place of every value', () => {
    fc.assert(
      fc.property(anyObjectText, (text) => {
        const node = locate(text);
        expect(text.slice(node.start, node.end)).toBe(text.trim());
        const parsed: unknown = JSON.parse(text);
        const members = node.kind === 'object' ? node.members : [];
        const rebuilt = Object.fromEntries(
          members.map(({ key, value }) => [key, JSON.parse(text.slice(value.start, value.end))]),
        );
        expect(rebuilt).toEqual(parsed);
      }),
    );
  });
});

it('removes insertions again, whatever their order and place', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.tuple(fc.nat(), fc.string({ minLength: 1 }))), (text, additions) => {
      let present = { text, insertions: [] as readonly { at: number; length: number }[] };
      for (const [place, added] of additions) present = insert(present, place % (present.text.length + 1), added);
      expect(withdraw(present)).toBe(text);
    }),
  );
});
