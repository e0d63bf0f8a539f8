import type { Tool } from '../../src/sdk/tool.ts';

/** FR-5.4: records how work went in which a memory was used. */
export const memoryFeedback: Tool = {
  name: 'memory_feedback',
  async execute({ host }, input) {
    return { data: await host.ask('MemoryFeedback', input) };
  },
};
