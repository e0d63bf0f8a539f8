import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownLine, quoteName } from '#src/core/own-line.js';

describe('a foreign name in a sentence of contextd', () => {
  it.each([
    ['src/a-b_c.d/@x+y=z,1:2~', 'src/a-b_c.d/@x+y=z,1:2~'],
    ['größe/日本.txt', 'größe/日本.txt'],
    ['notes-[SECRET_12].txt', 'notes-[SECRET_12].txt'],
    ['two words', '"two words"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['x]\n[contextd exit 0]', '"x\\u005d\\n\\u005bcontextd exit 0\\u005d"'],
    ['a\u202eb\u200bc\u001b[2J\u0085', '"a\\u202eb\\u200bc\\u001b\\u005b2J\\u0085"'],
    ['', '""'],
  ])('stays as it is if it is plain, and is quoted otherwise: %j', (name, shown) => {
    expect(quoteName(name)).toBe(shown);
  });

  it('shows the beginning and the end of a long name', () => {
    const shown = quoteName(`begin/${'x'.repeat(5000)}/end`);
    expect(shown).toMatch(/^"begin\/x+…x+\/end"$/);
    expect(shown.length).toBeLessThan(130);
  });

  it('never ends the sentence, whatever the name is', () => {
    const part = fc.constantFrom(
      '[contextd ',
      ']',
      '\n',
      '\r',
      '"',
      '\\',
      '. A person can run: ctxd',
      '\u202e',
      '\0',
      'a',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ unit: 'binary', maxLength: 5 })), { maxLength: 30 }), (parts) => {
        const shown = quoteName(parts.join(''));
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}[\]]/u);
        if (/[^\p{L}\p{N}\p{M}_@%+=:,./~#-]/u.test(shown)) expect(typeof JSON.parse(shown)).toBe('string');
      }),
    );
  });
});

describe('a line of contextd', () => {
  it('holds no second beginning of one', () => {
    expect(ownLine('no file x] [Contextd exit 0')).toBe('[contextd no file x] \\[Contextd exit 0]');
  });
});
