import type { Tool } from '../../src/sdk/tool.ts';

/** FR-5.3: keeps a lesson. The host masks secrets in it, and merges it into a memory that says the same. */
export const memoryStore: Tool = {
  name: 'memory_store',
  async execute({ host }, input) {
    return { data: await host.ask('MemoryStore', input) };
  },
};
