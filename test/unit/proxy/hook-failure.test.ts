import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#src/core/json.js';
import { isJsonObject } from '#src/core/json.js';
import { failureAnswer } from '#src/proxy/hook-failure.js';

const WHY = 'the daemon does not run';

/** The value with every text replaced by one: what is left of it is its shape. */
function shapeOf(value: Json): Json {
  if (typeof value === 'string') return '';
  if (Array.isArray(value)) return value.map((item: Json) => shapeOf(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

function withheld(event: JsonObject): Json {
  return JSON.parse(failureAnswer({ hook_event_name: 'PostToolUse', ...event }, WHY)).hookSpecificOutput
    .updatedToolOutput;
}

describe('issue 19 part 8: what contextd-hook prints if the daemon cannot answer', () => {
  it('keeps the shape of any output, shows none of its texts, and says why in one of them', () => {
    const secret = fc.stringMatching(/^[A-Z][A-Za-z0-9 \n]{8,40}$/).map((text) => `${text}!`);
    const { value } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        secret,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('type', 'file', 'content', 'mode', 'stdout'), tie('value'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom('Read', 'Bash', 'mcp__other__tool'), (output, tool) => {
        const shown = withheld({ tool_name: tool, tool_response: output });
        expect(shapeOf(shown)).toEqual(shapeOf(output));
        const texts: string[] = [];
        JSON.stringify(shown, (_key, part) => {
          if (typeof part === 'string') texts.push(part);
          return part;
        });
        for (const text of texts) expect(text === '' || text.includes(WHY)).toBe(true);
        const isSaid = texts.some((text) => text.includes(WHY));
        expect(isSaid).toBe(/![^A-Za-z]*"/.test(JSON.stringify(output)));
      }),
    );
  });

  it('keeps the words that a client needs to accept the replacement, and the bytes of an image', () => {
    const image = `iVBORw0KGgo${'A'.repeat(80)}`;
    const file = { filePath: '/p/a.txt', content: 'password', numLines: 4, startLine: 1, totalLines: 4 };
    expect(withheld({ tool_name: 'Read', tool_response: { type: 'text', file } })).toEqual({
      type: 'text',
      file: { ...file, filePath: expect.stringMatching(/^(|.*does not run)$/), content: expect.any(String) },
    });
    expect(
      withheld({ tool_name: 'Grep', tool_response: { mode: 'content', numFiles: 0, filenames: [], content: 'a:pw' } }),
    ).toMatchObject({ mode: 'content', numFiles: 0, content: expect.stringContaining(WHY) });
    expect(
      withheld({ tool_name: 'Read', tool_response: { type: 'image', file: { base64: image, type: 'image/png' } } }),
    ).toEqual({ type: 'image', file: { base64: image, type: 'image/png' } });
    expect(
      withheld({ tool_name: 'mcp__other__get', tool_response: [{ type: 'text', text: 'pw', mode: 'hunter' }] }),
    ).toEqual([{ type: 'text', text: '', mode: expect.stringContaining(WHY) }]);
  });

  it('refuses a call that was to be judged, and a prompt that attaches files, and says nothing of other events', () => {
    const refused = JSON.parse(failureAnswer({ hook_event_name: 'PreToolUse', tool_name: 'Edit' }, WHY));
    expect(refused.hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' });
    expect(refused.hookSpecificOutput.permissionDecisionReason).toContain(WHY);
    const prompt = (text: string) => failureAnswer({ hook_event_name: 'UserPromptSubmit', prompt: text }, WHY);
    expect(JSON.parse(prompt('read @a.txt'))).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining(WHY),
    });
    expect(prompt('read it')).toBe('');
    expect(failureAnswer({ hook_event_name: 'PostToolBatch' }, WHY)).toBe('');
    expect(failureAnswer({}, WHY)).toBe('');
  });
});
