import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOOKS, readHookInput } from '#src/cli/hooks/hook-input.js';
import { propertyRuns } from '../../../helpers/property-runs.ts';

let base = '';
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'hooks-'));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

const ROLES = ['user', 'agent', 'todo', 'task'];
const afterTool = (tool_name: string, tool_input: unknown, tool_response: unknown = {}) =>
  JSON.stringify({
    session_id: 's',
    cwd: '/p/sub',
    hook_event_name: 'PostToolUse',
    tool_name,
    tool_input,
    tool_response,
  });

describe('issue 19 part 8: the input of a hook', () => {
  it('never fails, whatever a client sends', async () => {
    const names = fc.constantFrom(
      'session_id',
      'cwd',
      'trigger',
      'tool_name',
      'tool_input',
      'tool_response',
      'transcript_path',
      'last_assistant_message',
    );
    const tools = fc.constantFrom<unknown>('TodoWrite', 'TaskCreate', 'TaskUpdate', 'Edit', 'Bash');
    const inner = fc.dictionary(
      fc.constantFrom('todos', 'taskId', 'subject', 'status', 'file_path', 'task'),
      fc.jsonValue(),
    );
    const object = fc.dictionary(names, fc.oneof(tools, inner, fc.jsonValue()));
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      object.map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...HOOKS), texts, async (name, text) => {
        const input = await readHookInput(name, text, '/cwd');
        expect(input.cwd).toMatch(/^\//);
        for (const { role, text: handedIn } of input.items) {
          expect(ROLES).toContain(role);
          expect(handedIn.length).toBeLessThanOrEqual(256 * 1024);
        }
      }),
    );
  });

  it('hands in to-do lists and their changes, and no file, which contextd-hook records', async () => {
    const items = async (text: string) => (await readHookInput('post-tool', text, '/')).items;
    const todos = [
      { content: 'a\nb', status: 'completed' },
      { content: 'c', status: 'in_progress' },
      { content: 'd', status: 'pending' },
    ];
    expect(await items(afterTool('TodoWrite', { todos }))).toEqual([{ role: 'todo', text: '[x] a b\n[>] c\n[ ] d' }]);
    const created = afterTool('TaskCreate', { subject: 'test it' }, { task: { id: '3', subject: 'test it' } });
    expect(await items(created)).toEqual([{ role: 'task', text: '#3 [ ] test it' }]);
    const updated = (input: object) => items(afterTool('TaskUpdate', { taskId: '3', ...input }));
    expect(await updated({ status: 'completed' })).toEqual([{ role: 'task', text: '#3 [x]' }]);
    expect(await updated({ status: 'deleted' })).toEqual([{ role: 'task', text: '#3 [-]' }]);
    expect(await updated({ subject: 'test both' })).toEqual([{ role: 'task', text: '#3 test both' }]);
    for (const tool of ['Edit', 'Write', 'MultiEdit'])
      expect(await items(afterTool(tool, { file_path: '/p/src/a.ts' }))).toEqual([]);
    expect(await items(afterTool('Bash', { command: 'ls' }))).toEqual([]);
  });

  it('waits for no pipe that a client names as its transcript', async () => {
    const pipe = join(base, 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    const { items } = await readHookInput('stop', JSON.stringify({ transcript_path: pipe }), '/');
    expect(items).toEqual([]);
  });

  it('finds the last request and the last answer in a transcript among everything else that is in it', async () => {
    const file = join(base, 'transcript.jsonl');
    const words = fc.stringMatching(/^[a-z]{1,20}$/);
    const noise = fc.constantFrom<object>(
      { type: 'user', isMeta: true, message: { role: 'user', content: 'NOISE' } },
      { type: 'user', isCompactSummary: true, message: { role: 'user', content: 'NOISE' } },
      { type: 'user', message: { role: 'user', content: '<command-name>NOISE</command-name>' } },
      { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: 'NOISE' }] } },
      {
        type: 'assistant',
        isSidechain: true,
        message: { role: 'assistant', content: [{ type: 'text', text: 'NOISE' }] },
      },
      {
        type: 'assistant',
        message: { role: 'assistant', content: [{ type: 'tool_use', id: 'x', input: { a: 'NOISE' } }] },
      },
      { type: 'api-request-blob', message: { role: 'user', content: 'NOISE' } },
    );
    const message = (role: string) =>
      fc.oneof(
        words.map((content) => ({ type: role, message: { role, content } })),
        words.map((text) => ({ type: role, message: { role, content: [{ type: 'text', text }] } })),
      );
    const lines = fc.array(fc.oneof(noise, message('user'), message('assistant')), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(lines, fc.boolean(), async (entries, isLong) => {
        const padding = isLong
          ? `${JSON.stringify({ type: 'user', message: { role: 'user', content: 'n'.repeat(1_200_000) } })}\n`
          : '';
        writeFileSync(file, `${padding}${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`);
        const last = (role: string) => {
          const found = entries.findLast(
            (entry) =>
              'message' in entry && !JSON.stringify(entry).includes('NOISE') && 'type' in entry && entry.type === role,
          );
          return found === undefined ? [] : [/"(?:content|text)":"([a-z]+)"/.exec(JSON.stringify(found))?.[1]];
        };
        const { items } = await readHookInput('pre-compact', JSON.stringify({ transcript_path: file }), '/p');
        expect(items.map(({ text }) => text)).toEqual([...last('user'), ...last('assistant')]);
        expect(items.map(({ role }) => role)).toEqual([
          ...last('user').map(() => 'user'),
          ...last('assistant').map(() => 'agent'),
        ]);
      }),
      { numRuns: propertyRuns('slow') },
    );
  });

  it('leaves a text out that is too long to be searched for secrets whole', async () => {
    const text = JSON.stringify({ last_assistant_message: `${'a'.repeat(256 * 1024)}b` });
    const { items } = await readHookInput('stop', text, '/p');
    expect(items).toEqual([{ role: 'agent', text: '(262145 characters, too long to keep)' }]);
  });
});
