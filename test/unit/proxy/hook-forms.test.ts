import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import { readEvent } from '#src/features/client-hooks/hook-event.js';
import { failureAnswer } from '#src/proxy/hook-failure.js';
import { type HookForm, hookFormOf } from '#src/proxy/hook-forms.js';

function formOf(word: string): HookForm {
  const form = hookFormOf(word);
  if (form === null) throw new Error(`no form of ${word}`);
  return form;
}
const [codex, gemini] = [formOf('codex'), formOf('gemini')];
const read = (form: HookForm, event: JsonObject) => readEvent(Buffer.from(JSON.stringify(form.read(event))), '/p');
const refused = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'why' } };
const replaced = (output: JsonObject | string): JsonObject => ({ hookSpecificOutput: { updatedToolOutput: output } });

describe('issue 35 part 3: hooks of other clients', () => {
  it('of Claude Code and OpenCode are taken as they are', () => {
    for (const word of [undefined, '', 'claude', 'other']) expect(hookFormOf(word)).toBeNull();
  });

  it('of Codex are judged by the files of a patch and by what a command shows', () => {
    const patch = '*** Begin Patch\n*** Add File: made.txt\n+x\n*** Update File: lib/a.txt\n*** End Patch';
    const before = { hook_event_name: 'PreToolUse', session_id: 's', cwd: '/p/lib', tool_name: 'apply_patch' };
    const event = read(codex, { ...before, tool_input: { command: patch } });
    const paths = ['/p/lib/made.txt', '/p/lib/lib/a.txt'];
    expect(event).toMatchObject({ at: 'before', does: 'write', session: '', paths, isByMcp: true });
    const after = { ...before, hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } };
    expect(read(codex, { ...after, tool_response: 'out\n' })).toMatchObject({
      at: 'after',
      does: 'say',
      output: 'out\n',
    });
  });

  it('of Gemini CLI are judged by its own names of events, tools and outputs', () => {
    const before = { hook_event_name: 'BeforeTool', session_id: 's', cwd: '/p' };
    const write = { ...before, tool_name: 'write_file', tool_input: { file_path: 'a.txt', content: 'x' } };
    expect(read(gemini, write)).toMatchObject({ at: 'before', does: 'write', paths: ['/p/a.txt'], isByMcp: true });
    const list = { ...before, tool_name: 'list_directory', tool_input: { dir_path: 'lib' } };
    expect(read(gemini, list)).toMatchObject({ does: 'read', paths: ['/p/lib'] });
    const output = { llmContent: 'out', returnDisplay: 'shown' };
    const after = { ...before, hook_event_name: 'AfterTool', tool_response: output };
    expect(read(gemini, { ...after, tool_name: 'run_shell_command' })).toMatchObject({ does: 'say', output: 'out' });
    expect(read(gemini, { ...after, tool_name: 'mcp_contextd_safe_bash' })).toMatchObject({ does: 'say' });
    expect(read(gemini, { ...after, tool_name: 'mcp_other_tool' })).toMatchObject({ does: 'read', output: 'out' });
    const prompt = { hook_event_name: 'BeforeAgent', prompt: 'look at @a.txt', cwd: '/p' };
    expect(read(gemini, prompt)).toMatchObject({ at: 'prompt', prompt: 'look at @a.txt' });
  });

  it('are answered in the words of each client, which show a masked output in place of the original', () => {
    expect(codex.write(refused)).toEqual(refused);
    expect(codex.write(replaced('masked'))).toEqual({ decision: 'block', reason: 'masked' });
    expect(gemini.write(refused)).toEqual({ decision: 'deny', reason: 'why' });
    expect(gemini.write(replaced('masked'))).toEqual({ decision: 'deny', reason: 'masked' });
    expect(gemini.write({ decision: 'block', reason: 'why' })).toEqual({ decision: 'deny', reason: 'why' });
    const content = {
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    };
    for (const form of [codex, gemini]) expect(form.write(replaced(content))).toMatchObject({ reason: 'one\ntwo' });
  });

  it('show nothing of an output if the daemon cannot be reached', () => {
    const after = { tool_name: 'Bash', cwd: '/p' };
    const shown = [
      codex.write(
        JSON.parse(
          failureAnswer(codex.read({ ...after, hook_event_name: 'PostToolUse', tool_response: 'x y' }), 'why'),
        ),
      ),
      gemini.write(
        JSON.parse(
          failureAnswer(
            gemini.read({ ...after, hook_event_name: 'AfterTool', tool_response: { llmContent: 'x y' } }),
            'why',
          ),
        ),
      ),
    ];
    for (const { reason } of shown) expect(reason).toMatch(/^contextd withheld this output.*why$/);
  });
});
