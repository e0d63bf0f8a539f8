import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatToolName, parseToolName, TOOL_NAME_PATTERN } from '#src/catalog/tool-name.js';

describe('the name of a tool', () => {
  it('reads the name of a tool of this machine', () => {
    expect(parseToolName('safe_read')).toEqual({ namespace: null, name: 'safe_read', version: null, hash8: null });
  });

  it.each(['github.create_issue', 'github/create_issue', 'github:create_issue'])(
    'reads %s as the tool create_issue of the server github',
    (text) => {
      const parsed = parseToolName(text);
      expect(parsed).toMatchObject({ namespace: 'github', name: 'create_issue' });
      expect(parsed && formatToolName(parsed)).toBe('github:create_issue');
    },
  );

  it.each(['weather:get@2024-05', 'slack:slack_send_message#3a91c7d2', 'a:b@1.4.0#0123abcd'])(
    'writes the canonical form %s as it read it',
    (text) => {
      const parsed = parseToolName(text);
      expect(parsed && formatToolName(parsed)).toBe(text);
    },
  );

  it.each([
    '',
    'A',
    '9',
    'two words',
    '../x',
    '/etc/passwd',
    'a/../b',
    'a/..',
    'a/.',
    'a/b/c',
    'a//b',
    'a..',
    'a:b:c',
    'a:',
    ':b',
    'a\0b',
    'a/b\n',
    'a:b@',
    'a:b#123',
    'a:b#0123ABCD',
    `a:${'b'.repeat(129)}`,
    `${'a'.repeat(65)}:b`,
    `${'a'.repeat(64)}:${'b'.repeat(128)}@${'1'.repeat(32)}#0123abcd${'0'.repeat(16)}`,
  ])('reads %j as no name', (text) => {
    expect(parseToolName(text)).toBeNull();
  });

  it('gives no name a part that could leave a directory, whatever the text', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'Z', '0', '_', '-', '.', '/', ':', '@', '#', '\0', '\n', '\\', 'é'),
    });
    fc.assert(
      fc.property(text, (given) => {
        const parsed = parseToolName(given);
        if (parsed === null) return;
        for (const part of [parsed.namespace ?? 'a', parsed.name]) expect(part).toMatch(/^[A-Za-z_][A-Za-z0-9_.-]*$/);
        expect(parseToolName(formatToolName(parsed))).toEqual(parsed);
      }),
    );
  });

  it('lets only the name of a tool of this machine become part of a path', () => {
    for (const text of ['github.create_issue', 'github:create_issue', 'a/b', 'a:b@1'])
      expect(text).not.toMatch(TOOL_NAME_PATTERN);
  });
});
