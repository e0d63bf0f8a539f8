import { describe, expect, it } from 'vitest';
import { readDraft } from '#src/features/memory/item.js';

const GOOD = { title: ' Run \n migrations ', content: 'first', tags: ['DB', 'db', ' ci '], outcome: 'failure' };

describe('a draft', () => {
  it('issue 18 is read with its texts trimmed and its tags sorted', () => {
    expect(readDraft(GOOD)).toEqual({
      title: 'Run migrations',
      content: 'first',
      description: '',
      task: '',
      context: '',
      tags: ['ci', 'db'],
      outcome: 'failure',
    });
  });

  it.each([
    ['/title', { ...GOOD, title: '  ' }],
    ['/title', { ...GOOD, title: 7 }],
    ['/title', { ...GOOD, title: 'x'.repeat(501) }],
    ['/content', { title: 'x' }],
    ['/content', { ...GOOD, content: 'é'.repeat(32_769) }],
    ['/outcome', { ...GOOD, outcome: 'good' }],
    ['/tags', { ...GOOD, tags: 'db' }],
    ['/tags/1', { ...GOOD, tags: ['a', ''] }],
    ['/tags', { ...GOOD, tags: Array.from({ length: 17 }, (_, i) => `t${i}`) }],
    ['/titel', { ...GOOD, titel: 'x' }],
    ['', []],
  ])('issue 18 is refused with the pointer %j', (pointer, value) => {
    expect(() => readDraft(value)).toThrow(
      expect.objectContaining({ code: 'ARGS_INVALID', details: { faults: [expect.objectContaining({ pointer })] } }),
    );
  });

  it('issue 18 may have 64 KiB of content', () => {
    expect(readDraft({ title: 'x', content: 'x'.repeat(65_536) }).content).toHaveLength(65_536);
  });

  it.each(['\u200b', '\u{e0041}', '\u202e', '\u0085', '\ue000', '\u001b', '\ud800', '\u3164'])(
    'issue 18 names the character %j of a title or a tag that does not print, or loses it if it was written elsewhere',
    (character) => {
      const name = `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
      expect(() => readDraft({ ...GOOD, title: `a${character}b` })).toThrow(`/title has the character ${name}`);
      expect(() => readDraft({ ...GOOD, tags: ['x', `a${character}b`] })).toThrow(`/tags/1 has the character ${name}`);
      const hidden = { title: `a${character}b`, tags: [`c${character}`], content: `kept${character}.` };
      expect(readDraft(hidden, 'strip')).toMatchObject({ title: 'ab', tags: ['c'], content: `kept${character}.` });
      expect(() => readDraft({ ...hidden, title: character }, 'strip')).toThrow('/title is missing');
    },
  );

  it('issue 18 keeps pictures in a title, with the joiners inside them', () => {
    const title = '\u26a0\ufe0f \u{1f468}\u200d\u{1f4bb} naïve 日本語';
    expect(readDraft({ ...GOOD, title }).title).toBe(title);
    expect(readDraft({ ...GOOD, title }, 'strip').title).toBe(title);
  });
});
