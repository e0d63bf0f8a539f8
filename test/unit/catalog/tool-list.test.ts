import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FOR_SERVERS, listTools } from '#src/catalog/tool-list.js';
import { TOOL_LIMITS } from '#src/catalog/verify-tool/check.js';

const MOST = TOOL_LIMITS.allSchemasTokens.most;

const TOOLS = fc.uniqueArray(
  fc.record({
    name: fc.oneof(fc.stringMatching(/^[a-z]{1,8}$/), fc.constantFrom(...FOR_SERVERS.keys())),
    isCore: fc.boolean(),
    schemaTokens: fc.option(fc.integer({ min: 0, max: 500 })),
  }),
  { selector: ({ name }) => name, maxLength: 40 },
);

it('CE-1.1 issue 30.1.3 the listed tools of a project stay within the bound, and every other tool is left to tool_browse', () => {
  fc.assert(
    fc.property(TOOLS, (tools) => {
      const { listed, searched, tokens } = listTools(tools);
      const forServers = tools.filter(({ name, isCore }) => isCore && FOR_SERVERS.has(name));
      const rest = forServers.filter((tool) => !listed.includes(tool));
      expect([...listed, ...searched, ...rest].sort(byName)).toEqual([...tools].sort(byName));
      const core = tools.filter(({ name, isCore }) => isCore && !FOR_SERVERS.has(name));
      expect(listed).toEqual(expect.arrayContaining(core));
      expect(tokens).toBe(sum(listed));
      expect(tokens).toBeLessThanOrEqual(Math.max(MOST, sum(core)));
      // Nothing is left to a search that still fits.
      for (const one of searched) expect(tokens + (one.schemaTokens ?? 0)).toBeGreaterThan(MOST);
      // The list does not depend on the order in which the tools were installed.
      expect(new Set(listTools([...tools].reverse()).listed)).toEqual(new Set(listed));
    }),
  );
});

const sum = (tools: readonly { schemaTokens: number | null }[]) =>
  tools.reduce((total, { schemaTokens }) => total + (schemaTokens ?? 0), 0);
const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
