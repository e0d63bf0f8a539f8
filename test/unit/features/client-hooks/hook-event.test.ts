import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContextdError } from '#src/core/errors.js';
import { type HookEvent, readEvent } from '#src/features/client-hooks/hook-event.js';
import { tokenRefusal } from '#src/features/client-hooks/safe-write-call.js';

const read = (event: object) => readEvent(Buffer.from(JSON.stringify(event)), '/p');

function callOf(tool: string, input: object, rest: object = {}): HookEvent {
  const event = read({ hook_event_name: 'PreToolUse', tool_name: tool, tool_input: input, cwd: '/p/sub', ...rest });
  if (event === null || event.at === 'prompt' || event.at === 'batch') throw new Error('no call');
  return event;
}

describe('issue 19 part 8: events of the hooks of clients', () => {
  it('reads the calls of both clients, and resolves the paths that they name', () => {
    expect(callOf('Read', { file_path: '/p/a' })).toMatchObject({ at: 'before', does: 'read', paths: ['/p/a'] });
    expect(callOf('edit', { filePath: '../b' })).toMatchObject({ does: 'write', paths: ['/p/b'] });
    expect(callOf('NotebookEdit', { notebook_path: 'n.ipynb' })).toMatchObject({
      does: 'write',
      paths: ['/p/sub/n.ipynb'],
    });
    expect(callOf('Grep', { pattern: 'x', path: '.' })).toMatchObject({ does: 'read', paths: ['/p/sub'] });
    expect(callOf('Bash', { command: 'cat a' })).toMatchObject({ does: 'say', paths: [] });
    expect(callOf('mcp__contextd__safe_read', {}).does).toBe('say');
    expect(callOf('mcp__other__query', {}).does).toBe('read');
    const patchText = '*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n*** Move to: b.ts\n*** Delete File: c.ts\n';
    expect(callOf('apply_patch', { patchText }).paths).toEqual(['/p/sub/a.ts', '/p/sub/b.ts', '/p/sub/c.ts']);
  });

  it('finds the path of a patch however OpenCode reads its line', () => {
    const patchText = '*** Begin Patch\n*** Add File:/h/.bashrc:x\n+a\n  *** Move to: /h/b \r\n*** End Patch';
    expect(callOf('patch', { patchText }).paths).toEqual(['/h/.bashrc:x', '/h/b', '/h/.bashrc']);
  });

  it('knows the directory of Claude Code from its transcript', () => {
    const transcript_path = '/home/a/.claude-work/projects/-p/3f.jsonl';
    expect(callOf('Edit', {}, { transcript_path }).clientDirectory).toBe('/home/a/.claude-work');
    for (const other of ['/projects/a/b.jsonl', '/tmp/3f.jsonl', ''])
      expect(callOf('Edit', {}, { transcript_path: other }).clientDirectory).toBeNull();
  });

  it('knows from a batch only the calls whose input the client itself refused', () => {
    const call = { tool_name: 'Edit', tool_input: { file_path: '/p/a', old_string: '[SECRET_1]', new_string: 'x' } };
    const batch = read({
      hook_event_name: 'PostToolBatch',
      tool_calls: [
        { ...call, tool_response: '<tool_use_error>String to replace not found' },
        { ...call, tool_response: 'updated' },
        { ...call, tool_response: [{ type: 'text', text: '<tool_use_error>' }] },
      ],
    });
    expect(batch).toMatchObject({ at: 'batch', faulted: [{ at: 'faulted', does: 'write', paths: ['/p/a'] }] });
  });

  it('answers no event that it does not know, and throws ARGS_INVALID for what is no event', () => {
    expect(read({ hook_event_name: 'Stop' })).toBeNull();
    for (const text of ['', '[]', '{', '"x"', '{"hook_event_name":"PreToolUse"}'])
      expect(() => readEvent(Buffer.from(text), '/p')).toThrow(expect.objectContaining({ code: 'ARGS_INVALID' }));
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('PreToolUse', 'PostToolUse', 'PostToolBatch'), (value, name) => {
        try {
          read({
            hook_event_name: name,
            tool_name: 'Edit',
            tool_input: value,
            tool_calls: value,
            tool_response: value,
          });
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ContextdError);
        }
      }),
    );
  });

  it('names a call of safe_write that one shell word carries, for every edit', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(text, text, fc.boolean(), (old_string, new_string, replace_all) => {
        const event = callOf('Edit', { file_path: '/p/a.txt', old_string, new_string, replace_all });
        const [, words = ''] = /\nsafe_write ('.*')$/s.exec(tokenRefusal(event, '/p', ['[SECRET_1]'])) ?? [];
        const json = words.slice(1, -1).replaceAll("'\\''", "'");
        expect(words).not.toContain('\n');
        expect(JSON.parse(json)).toEqual({
          path: 'a.txt',
          edits: [{ old: old_string, new: new_string, ...(replace_all ? { all: true } : {}) }],
        });
      }),
    );
    const escaped = callOf('Edit', { file_path: '/p/a', old_string: '[SECRET_1]', new_string: '"\\u005bSECRET_1]"' });
    expect(tokenRefusal(escaped, '/p', ['[SECRET_1]'])).toContain('`safe_write --help`');
    const outside = callOf('Write', { file_path: '/other/a', content: 'x' });
    expect(tokenRefusal(outside, '/p', ['[SECRET_1]'])).toContain('in files of the project');
    const cell = callOf('NotebookEdit', { notebook_path: '/p/n.ipynb', new_source: '[SECRET_1]' });
    expect(tokenRefusal(cell, '/p', ['[SECRET_1]'])).toContain('`safe_write --help`');
  });
});
