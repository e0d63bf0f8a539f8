import { describe, expect, test } from 'vitest';
import { leadsToProtected } from '#src/guard/table/protected-names.js';

describe('the copy of a link', () => {
  test.each([
    ['/p/.vscode', '/etc/x', true],
    ['/p/.claude/skills', '../.agents/skills', true],
    ['/p/.claude/a/b', './c', true],
    ['/p/pkg/.claude/a', '../../.claude/a', true],
    ['/p/.vscode', 'config/vscode', false],
    ['/p/.claude/a', '../scripts/a', false],
    ['/p/.claude/a', '../../.claude', false],
    ['/p/.claude/a', 'b/../../../x', false],
    ['/p/.claude/a', '../node_modules/x/.vscode', false],
  ])('%s -> %s leads to something protected: %s', (path, text, expected) => {
    expect(leadsToProtected(path, text, '/p')).toBe(expected);
  });
});
