import { describe, expect, it } from 'vitest';
import { OpenQuestions } from '#src/core/open-questions.js';
import { McpError } from '#src/core/passing.js';

describe('issue 34 questions that a client has not answered', () => {
  it('issue 34 are 64 at most, and an answer makes room for another', async () => {
    const questions = new OpenQuestions();
    const first = Promise.withResolvers<string>();
    const open = [first, ...Array.from({ length: 63 }, () => Promise.withResolvers<string>())];
    const asked = open.map(({ promise }) => questions.ask(() => promise));
    let wasPut = false;
    const put = async () => {
      wasPut = true;
      return 'put';
    };
    await expect(questions.ask(put)).rejects.toBeInstanceOf(McpError);
    expect(wasPut).toBe(false);
    first.reject(new McpError(-32_603, 'no'));
    await expect(asked[0]).rejects.toThrow('no');
    expect(await questions.ask(put)).toBe('put');
    for (const { resolve } of open) resolve('yes');
    expect(await Promise.all(asked.slice(1))).toHaveLength(63);
  });
});
