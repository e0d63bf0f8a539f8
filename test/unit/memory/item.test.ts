import { describe, expect, it } from 'vitest';
import { readDraft } from '#src/memory/item.js';

const GOOD = { title: ' Run \n migrations ', content: 'first', tags: ['DB', 'db', ' ci '], outcome: 'failure' };

describe('a draft', () => {
  it('issue 18 is read with its texts trimmed and its tags sorted', () => {
    expect(readDraft(GOOD)).toEqual({
      ...{ title: 'Run migrations', content: 'first', description: '', task: '', context: '' },
      ...{ tags: ['ci', 'db'], outcome: 'failure' },
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
});
