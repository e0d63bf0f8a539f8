import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SELECTION_PROVIDERS, selectionSchema, validateSelection } from '#src/gateway/selection.js';

const IDS = ['github:create_issue@1.4.0', 'github:close_issue@1.4.0', 'slack:send#3a91c7d2'];

describe('the schema of a selection', () => {
  const bare = {
    type: 'object',
    properties: { tool_id: { type: 'string', enum: IDS } },
    required: ['tool_id'],
    additionalProperties: false,
  };

  it.each([
    ['json_schema', bare],
    ['openai', { type: 'json_schema', json_schema: { name: 'tool_selection', strict: true, schema: bare } }],
    ['anthropic', { name: 'tool_selection', description: 'Chooses one of the candidates.', input_schema: bare }],
  ] as const)('for %s', (provider, expected) => {
    expect(selectionSchema(IDS, { provider })).toEqual(expected);
  });

  it('is the bare one by default, allows exactly the candidates, and names each once in their order', () => {
    expect(selectionSchema([...IDS, ...IDS])).toEqual(bare);
    const isValid = new Ajv2020().compile({ ...selectionSchema(IDS) });
    for (const id of IDS) expect(isValid({ tool_id: id })).toBe(true);
    for (const other of [{ tool_id: 'github:create' }, { tool_id: IDS[0], more: 1 }, {}])
      expect(isValid(other)).toBe(false);
  });

  it('takes other names for the property and itself', () => {
    expect(selectionSchema(['a'], { provider: 'openai', propertyName: 'selection', schemaName: 'pick' })).toMatchObject(
      {
        json_schema: { name: 'pick', schema: { required: ['selection'], properties: { selection: { enum: ['a'] } } } },
      },
    );
  });

  it.each(SELECTION_PROVIDERS)('for %s is refused without candidates', (provider) => {
    expect(() => selectionSchema([], { provider })).toThrow(expect.objectContaining({ code: 'ARGS_INVALID' }));
  });

  it('is refused for a provider or a name that does not exist', () => {
    // @ts-expect-error only a program without types can pass it
    expect(() => selectionSchema(IDS, { provider: 'gemini' })).toThrow(/"gemini" is not a provider/);
    expect(() => selectionSchema(IDS, { schemaName: 'two words' })).toThrow(/"two words" is not a name/);
  });
});

describe('a selection', () => {
  it.each([
    ['slack:send#3a91c7d2', { status: 'accepted', id: 'slack:send#3a91c7d2' }],
    [' slack:send#3a91c7d2\n', { status: 'repaired', id: 'slack:send#3a91c7d2', repair: 'strip' }],
    ['Slack:SEND#3A91C7D2', { status: 'repaired', id: 'slack:send#3a91c7d2', repair: 'case_fold' }],
    [' slack:send', { status: 'repaired', id: 'slack:send#3a91c7d2', repair: 'prefix' }],
    ['GITHUB:CREATE', { status: 'repaired', id: 'github:create_issue@1.4.0', repair: 'prefix' }],
    ['github:c', { status: 'rejected', reason: 'ambiguous_prefix' }],
    ['create_issue', { status: 'rejected', reason: 'not_a_candidate' }],
    ['slack:send#3a91c7d2x', { status: 'rejected', reason: 'not_a_candidate' }],
    ['', { status: 'rejected', reason: 'empty_selection' }],
    [' \t', { status: 'rejected', reason: 'empty_selection' }],
  ])('%j becomes %j', (raw, expected) => {
    expect(validateSelection(raw, IDS)).toEqual({ raw, ...expected });
  });

  it('that fits two candidates in another case is rejected, although a longer one has it as its beginning', () => {
    expect(validateSelection('A:X', ['a:x', 'a:X', 'a:xy'])).toMatchObject({ reason: 'ambiguous_case_fold' });
    expect(validateSelection('a:X', ['a:x', 'a:X'])).toMatchObject({ status: 'accepted', id: 'a:X' });
  });

  it('prefers the candidate that it is to those that it begins', () => {
    expect(validateSelection('A:X', ['a:x', 'a:xy'])).toMatchObject({ repair: 'case_fold', id: 'a:x' });
  });

  it('of a candidate that is offered twice is not ambiguous', () => {
    expect(validateSelection('a:', ['a:x', 'a:x'])).toMatchObject({ status: 'repaired', id: 'a:x' });
  });

  it('is accepted only as it is if nothing may be repaired', () => {
    expect(validateSelection('slack:send', IDS, { canRepair: false })).toMatchObject({ reason: 'not_a_candidate' });
    expect(validateSelection(` ${IDS[0]}`, IDS, { canRepair: false })).toMatchObject({ reason: 'not_a_candidate' });
    expect(validateSelection(IDS[0] ?? '', IDS, { canRepair: false })).toMatchObject({ status: 'accepted' });
  });

  it('never becomes anything but a candidate, nor one of several that fit', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b', ':', ' ', 'İ', 'ß'), maxLength: 4 });
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 6 }), (raw, candidates) => {
        const result = validateSelection(raw, candidates);
        expect(result.raw).toBe(raw);
        if (result.status === 'rejected') return;
        expect(candidates).toContain(result.id);
        if (result.status === 'accepted') expect(result.id).toBe(raw);
        const fits = new Set(candidates.filter((id) => id.toLowerCase().startsWith(raw.trim().toLowerCase())));
        if (result.status === 'repaired' && result.repair === 'prefix') expect(fits).toEqual(new Set([result.id]));
      }),
    );
  });
});
