import { describe, expect, it } from 'vitest';
import { COMMON_OPTIONS } from '#src/catalog/arguments.js';
import { checkConfig } from '#src/config/load.js';
import { askedBudget, budgetLimits, takeCommonOptions } from '#src/dispatch/options.js';

function configOf(budget: object) {
  const { config, faults } = checkConfig(JSON.parse(JSON.stringify({ budget })));
  if (config === undefined) throw new Error(JSON.stringify(faults));
  return config;
}

const limitsOf = (
  budget: object,
  kind: Parameters<typeof budgetLimits>[1]['budget'] = 'answer',
  door = 'grpc' as const,
) => budgetLimits(configOf(budget).budget, { name: 'safe_bash', budget: kind }, door);

describe('the budget of an answer', () => {
  it('CE-1.4 is under 2,000 tokens, 500 for a search, 3,000 for a checkpoint, 800 for a warm start', () => {
    expect(limitsOf({}, 'answer')).toEqual({ standard: 1999, cut: 1999, ceiling: 20_000 });
    expect(limitsOf({}, 'search').standard).toBe(499);
    expect(limitsOf({}, 'checkpoint').standard).toBe(2999);
    expect(limitsOf({}, 'warm_start').standard).toBe(799);
  });

  it('follows the settings for its kind, its tool and its door', () => {
    expect(limitsOf({ default_tokens: 1000, max_tokens: 4000 })).toEqual({ standard: 999, cut: 999, ceiling: 4000 });
    const tools = { safe_bash: { default_tokens: 600, max_tokens: 900 }, other: { max_tokens: 300 } };
    expect(limitsOf({ tools })).toEqual({ standard: 599, cut: 599, ceiling: 900 });
    expect(limitsOf({ tools, doors: { grpc: { max_tokens: 500 } } })).toEqual({
      standard: 500,
      cut: 500,
      ceiling: 500,
    });
    expect(limitsOf({ max_tokens: 2000 }, 'checkpoint').standard).toBe(2000);
    expect(limitsOf({ tools: { safe_bash: { max_tokens: 50_000 } } }).ceiling).toBe(20_000);
  });

  it('issue 35 part 5: of a client whose shell is contextd-sh is what the client itself would show, and little of more', () => {
    const shell = (budget: object) =>
      budgetLimits(configOf(budget).budget, { name: 'safe_bash', budget: 'answer' }, 'shell');
    expect(shell({})).toEqual({ standard: 6_999, cut: 850, ceiling: 20_000 });
    expect(shell({ shell_whole_tokens: 3_000, shell_cut_tokens: 400 })).toMatchObject({ standard: 2_999, cut: 400 });
    expect(shell({ doors: { shell: { max_tokens: 500 } } })).toEqual({ standard: 500, cut: 500, ceiling: 500 });
    const limits = { budget: shell({}), timeout: { standardMs: 1, ceilingMs: 1 }, names: COMMON_OPTIONS };
    expect(takeCommonOptions({}, limits).options).toMatchObject({ maxTokens: 6_999, cutTokens: 850 });
    expect(takeCommonOptions({ max_tokens: 900 }, limits).options).toMatchObject({ maxTokens: 900, cutTokens: 900 });
  });

  it('is refused above its maximum, with the range', () => {
    const limits = {
      budget: { standard: 499, cut: 499, ceiling: 900 },
      timeout: { standardMs: 1, ceilingMs: 1 },
      names: COMMON_OPTIONS,
    };
    expect(takeCommonOptions({ max_tokens: 900 }, limits).options.maxTokens).toBe(900);
    for (const max_tokens of [901, 255, 300.5, '300', null])
      expect(() => takeCommonOptions({ max_tokens }, limits)).toThrowError(
        expect.objectContaining({ code: 'ARGS_INVALID', message: expect.stringContaining('from 256 to 900') }),
      );
    expect(takeCommonOptions({}, limits).options.maxTokens).toBe(499);
  });

  it('is the requested one even if the input has other faults', () => {
    const limits = { standard: 499, cut: 499, ceiling: 900 };
    expect(askedBudget({ max_tokens: 300, view: 7 }, limits)).toBe(300);
    for (const input of [{ max_tokens: 100_000 }, { max_tokens: '300' }, [], null, 'x', { max_tokens: 10 }])
      expect(askedBudget(input, limits)).toBe(499);
  });
});
