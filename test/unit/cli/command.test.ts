import { describe, expect, it } from 'vitest';
import { defineCommand, ParsedArgs } from '#src/cli/command.js';
import type { CliContext } from '#src/cli/context.js';

describe('a command of ctxd', () => {
  it('SEC-5.3 prints with --json no character that a terminal obeys, and the same value', async () => {
    const data = { text: '\u001b\u007f\u0085\u009b\u202e\u2028\u2066 ä😀' };
    const command = defineCommand({
      name: ['x'],
      summary: '',
      run: async () => data,
      view: () => ({ kind: 'raw', text: '' }),
    });
    const { json } = await command.execute({} as CliContext, new ParsedArgs([], {}));
    expect(json).toBe('{"text":"\\u001b\\u007f\\u0085\\u009b\\u202e\\u2028\\u2066 ä😀"}');
    expect(JSON.parse(json)).toEqual(data);
  });
});
