import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addEntries,
  hasEntry,
  insert,
  missingContainers,
  parseJson,
  removeEntry,
  withdraw,
} from '#src/cli/init/json-edit.js';

const ALLOW = { path: ['permissions', 'allow'], value: 'Bash(x)' };
const add = (text: string) => addEntries({ text, insertions: [] }, [ALLOW]).text;

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

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** The same with comments between the tokens and trailing commas. */
const anyCommentedText = fc
  .tuple(
    anyObjectText,
    fc.infiniteStream(fc.constantFrom('', '', ' ', '\n  ', ' // note\n', '/* note\n */', ' /* note */ ')),
  )
  .map(([plain, gaps]) => {
    let text = '';
    let comments = 0;
    for (const token of plain.replaceAll('note', 'n').match(TOKEN) ?? []) {
      const gap = gaps.next().value;
      comments += gap.includes('note') ? 1 : 0;
      const isEnd = (token === '}' || token === ']') && !/[{[][^"\w]*$/.test(text.replaceAll(COMMENT, ''));
      text += `${isEnd && gap.includes(' ') ? ',' : ''}${gap}${token}`;
    }
    return { text: `${text}\n`, comments };
  });
const COMMENT = / \/\/ note\n|\/\* note\n? \*\//g;

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
  ])('follows the formatting of %j', (before, after) => {
    expect(add(before)).toBe(after);
  });

  it.each([
    ['[]', 'the file is not an object'],
    ['{"permissions":[]}', 'permissions is not an object'],
    ['{"permissions":{"allow":"Bash"}}', 'permissions.allow is not an array'],
  ])('refuses %j', (text, message) => {
    expect(() => add(text)).toThrow(message);
  });

  it.each(['', ' \n', '// c', '/* c */\n', '\uFEFF', '\uFEFF{}', '\uFEFF// c'])(
    'FR-2.2: takes %j for an object without members',
    (text) => {
      expect(parseJson(text)).toEqual({});
    },
  );

  it.each(['{', '{"a":1,,}', '[,]', "{'a':1}", '{} {}', '{"a":1 /* c }', '{"a"}'])(
    'rejects %j, which is not JSON',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    },
  );

  it('names the line of the first fault', () => {
    expect(() => parseJson('{\n  // c\n  "a": 1\n  "b": 2\n}')).toThrow('line 4: comma expected');
  });

  it('rejects values nested so deep that the parser would overflow the stack', () => {
    expect(() => parseJson('['.repeat(100_000) + ']'.repeat(100_000))).toThrow('nested deeper than 200');
  });

  it('changes nothing else in any text, and can be undone byte for byte', () => {
    fc.assert(
      fc.property(anyObjectText, (text) => {
        const before: unknown = JSON.parse(text);
        let added: ReturnType<typeof addEntries>;
        try {
          added = addEntries({ text, insertions: [] }, [ALLOW]);
        } catch {
          return;
        }
        expect(hasEntry(added.text, ALLOW)).toBe(true);
        expect(withdraw(added)).toBe(text);
        const containers = missingContainers(text, ALLOW);
        expect(JSON.parse(removeEntry(added.text, ALLOW, containers))).toEqual(before);
      }),
    );
  });

  it('adds values together as one after the other, apart from white space', () => {
    const values = ['Bash(x)', 'Bash(y)', { z: [1] }];
    const entries = [...values.map((value) => ({ path: ALLOW.path, value })), { path: ['hooks', 'Stop'], value: 1 }];
    fc.assert(
      fc.property(anyObjectText, (text) => {
        let together: ReturnType<typeof addEntries>;
        try {
          together = addEntries({ text, insertions: [] }, entries);
        } catch {
          return;
        }
        const start: ReturnType<typeof addEntries> = { text, insertions: [] };
        const apart = entries.reduce((now, entry) => addEntries(now, [entry]), start);
        expect(JSON.parse(together.text)).toEqual(JSON.parse(apart.text));
        expect(withdraw(together)).toBe(text);
      }),
    );
  });

  it('reads every JSON text as JSON.parse does', () => {
    fc.assert(
      fc.property(anyObjectText, (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
    expect(parseJson('{"__proto__":{"a":1},"b":1,"b":2}')).toEqual(JSON.parse('{"__proto__":{"a":1},"b":2}'));
  });
});

describe('adding to a JSON text with comments', () => {
  it.each([
    ['{ // mine\n}', '{ // mine\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n}'],
    ['{ /* mine */ }', '{ /* mine */\n  "permissions": {\n    "allow": [\n      "Bash(x)"\n    ]\n  }\n }'],
    [
      '{\n  "permissions": {\n    "allow": [\n      "a", // why a\n    ],\n  },\n}',
      '{\n  "permissions": {\n    "allow": [\n      "a", // why a\n      "Bash(x)",\n    ],\n  },\n}',
    ],
    [
      '{\n  "permissions": {\n    "allow": [\n      "a" /* why */ // a\n    ]\n  }\n}',
      '{\n  "permissions": {\n    "allow": [\n      "a", /* why */ // a\n      "Bash(x)"\n    ]\n  }\n}',
    ],
    ['{"permissions":{"allow":["a",]}}', '{"permissions":{"allow":["a","Bash(x)",]}}'],
    ['// c\n{"permissions":{"allow":["a" /* b */]}}', '// c\n{"permissions":{"allow":["a","Bash(x)" /* b */]}}'],
    ['{"permissions":{"allow":[\n// none\n]}}', '{"permissions":{"allow":[\n// none\n  "Bash(x)"\n]}}'],
  ])('keeps the comments and trailing commas of %j', (before, after) => {
    const added = addEntries({ text: before, insertions: [] }, [ALLOW]);
    expect(added.text).toBe(after);
    expect(withdraw(added)).toBe(before);
  });

  it.each([
    ['{"permissions":{"allow":["a", // why a\n"Bash(x)"]}}', '{"permissions":{"allow":["a" // why a\n]}}'],
    [
      '{"permissions":{"allow":[\n  "a", // why a\n  "Bash(x)",\n]}}',
      '{"permissions":{"allow":[\n  "a", // why a\n]}}',
    ],
    [
      '{"permissions":{"allow":[\n  "Bash(x)", // mine\n  "b"\n]}}',
      '{"permissions":{"allow":[\n   // mine\n  "b"\n]}}',
    ],
    ['{"permissions":{"allow":[ "Bash(x)", ]}}', '{"permissions":{"allow":[]}}'],
    ['{"permissions":{"allow":[\n// c\n"Bash(x)" ]}}', '{"permissions":{"allow":[\n// c\n ]}}'],
  ])('removes an entry from %j but no comment', (before, after) => {
    expect(removeEntry(before, ALLOW, [])).toBe(after);
  });

  it('keeps a container that holds only a comment', () => {
    const text = '{"permissions":{"allow":["Bash(x)" /* mine */]}}';
    expect(removeEntry(text, ALLOW, [['permissions'], ['permissions', 'allow']])).toBe(
      '{"permissions":{"allow":[ /* mine */]}}',
    );
  });

  it('changes nothing else in any text, and can be undone byte for byte', () => {
    fc.assert(
      fc.property(anyCommentedText, ({ text, comments }) => {
        const before = parseJson(text);
        let added: ReturnType<typeof addEntries>;
        try {
          added = addEntries({ text, insertions: [] }, [ALLOW]);
        } catch {
          return;
        }
        expect(hasEntry(added.text, ALLOW)).toBe(true);
        expect(withdraw(added)).toBe(text);
        const removed = removeEntry(added.text, ALLOW, missingContainers(text, ALLOW));
        expect(parseJson(removed)).toEqual(before);
        expect(removed.split('note').length - 1).toBe(comments);
      }),
    );
  });
});

it('insertions in any order and place can be withdrawn', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.tuple(fc.nat(), fc.string({ minLength: 1 }))), (text, additions) => {
      let present = { text, insertions: [] as readonly { at: number; length: number }[] };
      for (const [place, added] of additions) present = insert(present, place % (present.text.length + 1), added);
      expect(withdraw(present)).toBe(text);
    }),
  );
});
