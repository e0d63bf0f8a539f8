import { readOptionalString } from '../../src/sdk/input.ts';
import type { Tool } from '../../src/sdk/tool.ts';

/** The host looks at no more of a query. */
const QUERY_MAX_CHARS = 16_384;

/** FR-5.1: finds memories by their words and returns references to them; memory_get returns contents. */
export const memorySearch: Tool = {
  name: 'memory_search',
  async execute({ host }, input) {
    const query = (readOptionalString(input, 'query') ?? '').slice(0, QUERY_MAX_CHARS);
    return { data: await host.ask('MemorySearch', { ...input, query }) };
  },
};
