import { describe, expect, it } from 'vitest';
import { cannedPrompt, cannedRead, parseCatalogueFile } from '#src/upstream/catalogue-file.js';
import { snapshotOf } from '#src/upstream/snapshot.js';

const TOOL = { name: 'a', inputSchema: { type: 'object' } };

const parse = (value: unknown) => parseCatalogueFile(JSON.stringify(value));

describe('gateway surface §9.5 a catalogue file', () => {
  it('is the example of the specification, with an answer for each resource and prompt', async () => {
    const { tools, leftOut, answers } = await parse({
      tools: [TOOL],
      resources: [{ uri: 'file:///docs/readme.md', name: 'README', mimeType: 'text/markdown' }],
      prompts: [{ name: 'summarize_pr', description: 'Summarize.', arguments: [{ name: 'repo', required: true }] }],
    });
    expect(leftOut).toEqual([]);
    const { resources, prompts, tools: own } = snapshotOf([{ name: 'docs', offers: tools, files: 'none' }]);
    expect([own[0]?.id, resources[0]?.id, prompts[0]?.id]).toEqual([
      expect.stringMatching(/^docs:a#[0-9a-f]{8}$/),
      expect.stringMatching(/^resource::docs:README#[0-9a-f]{8}$/),
      expect.stringMatching(/^prompt::docs:summarize_pr#[0-9a-f]{8}$/),
    ]);
    expect(cannedRead(answers, 'file:///docs/readme.md').contents).toMatchObject([
      { text: 'The catalogue file has no text for file:///docs/readme.md.' },
    ]);
    expect(cannedPrompt(answers, 'summarize_pr', { repo: 'shop' }).messages).toMatchObject([
      { content: { text: expect.stringContaining('repo: shop') } },
    ]);
  });

  it('of a bare list has tools only', async () => {
    expect((await parse([TOOL])).tools).toMatchObject([{ name: 'a' }]);
  });

  it('answers with the text, bytes and messages that it brings', async () => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'Do it.' } }];
    const { answers } = await parse({
      resources: [
        { uri: 'a:1', name: 'one', text: 'its text', mimeType: 'text/markdown' },
        { uri: 'a:2', name: 'two', blob: 'cGl4ZWxz' },
      ],
      prompts: [{ name: 'do', messages }],
    });
    expect(cannedRead(answers, 'a:1').contents).toEqual([{ uri: 'a:1', text: 'its text', mimeType: 'text/markdown' }]);
    expect(cannedRead(answers, 'a:2').contents).toEqual([{ uri: 'a:2', blob: 'cGl4ZWxz' }]);
    expect(cannedPrompt(answers, 'do', {}).messages).toEqual(messages);
  });

  it('leaves out entries that break the protocol, and names them', async () => {
    const { tools, leftOut } = await parse({
      tools: [TOOL, { ...TOOL }, { name: 'b' }, 7],
      resources: [{ uri: 'a:1', name: 'one', text: 7 }],
      prompts: [
        { name: 'do', messages: 'none' },
        { name: 'more', description: 7 },
      ],
    });
    expect(tools).toHaveLength(1);
    expect(leftOut).toEqual([
      '"a": another tool has the same name',
      '"b": it is no Tool of the protocol',
      'an entry of tools: it is no Tool of the protocol',
      '"a:1": what it answers is no ReadResourceResult of the protocol',
      '"do": what it answers is no GetPromptResult of the protocol',
      '"more": it is no Prompt of the protocol',
    ]);
  });

  it.each([
    ['no JSON', '{', /not JSON/],
    ['a text', '"x"', /neither an object nor a list/],
    ['an unknown key', '{"resource":[]}', /unknown key "resource"/],
    ['a list that is an object', '{"tools":{}}', /tools are no list/],
    ['deep nesting', `${'['.repeat(60)}${']'.repeat(60)}`, /nested deeper/],
    ['a key __proto__', '{"__proto__":[]}', /unknown key/],
  ])('is refused for %s', async (_what, text, says) => {
    await expect(parseCatalogueFile(text)).rejects.toMatchObject({
      code: 'ARGS_INVALID',
      message: expect.stringMatching(says),
    });
  });

  it('of more than 4 MiB is refused', async () => {
    await expect(parse([' '.repeat(4 * 1024 * 1024)])).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });
});
