import { getEncoding } from 'js-tiktoken';
import { describe, expect, it } from 'vitest';
import { layoutFor } from '#src/cli/init/layout.js';
import { isMarked, withMark } from '#src/cli/init/mark.js';
import { extendedText, rulesText, skillText } from '#src/cli/init/texts.js';
import { PROXY, TOOLS, toolText } from './tree.ts';

describe('what agents are told', () => {
  it('is a rules file of at most 200 tokens, for the core tools and for many', () => {
    const encoding = getEncoding('cl100k_base');
    const many = [...TOOLS, ...Array.from({ length: 50 }, (_, index) => toolText(`tool_${index}`))];
    for (const tools of [TOOLS, many]) expect(encoding.encode(rulesText(tools)).length).toBeLessThanOrEqual(200);
  });

  it('holds arguments that can be copied: single quotes around JSON', () => {
    for (const text of [rulesText(TOOLS), skillText(TOOLS)]) {
      const examples = [...text.matchAll(/\.claude\/tools\/(\w+)\/\1 '([^']+)'/g)];
      expect(examples.map(([, name]) => name)).toEqual(['safe_bash', 'safe_read', 'safe_write']);
      for (const [, , argument] of examples) expect(() => JSON.parse(argument ?? '')).not.toThrow();
    }
  });

  it('is a skill that says when to use it and grants itself nothing', () => {
    const head = skillText(TOOLS).split('---')[1] ?? '';
    expect(head).toContain('description: Run commands');
    expect(head).not.toContain('allowed-tools');
    for (const { name } of TOOLS) expect(skillText(TOOLS)).toContain(`## ${name}`);
  });
});

describe('the mark of a file', () => {
  it('fits the text and all that it covers, and nothing else', () => {
    const marked = withMark('text\n', ['a', 'b']);
    expect(isMarked(marked, ['a', 'b'])).toBe(true);
    expect(isMarked(marked, ['ab', ''])).toBe(false);
    expect(isMarked(`x${marked}`, ['a', 'b'])).toBe(false);
    expect(isMarked(`${marked}more\n`, ['a', 'b'])).toBe(false);
    expect(isMarked('text\n')).toBe(false);
  });

  it('of a tool covers its three files', () => {
    const tool = toolText('safe_bash');
    expect(isMarked(extendedText(tool), [`${tool.schemaJson}\n`, tool.toolMd])).toBe(true);
  });
});

it('a tool whose name could lead out of its directory is refused', () => {
  for (const name of ['../x', 'a/b', '', '.', 'A']) {
    expect(() => layoutFor([toolText(name)], PROXY)).toThrow('the daemon named a tool');
  }
});
