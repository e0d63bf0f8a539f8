import type { Tool } from '../../src/sdk/tool.ts';

/** FR-6.1: opens a branch for a side task. The brief is a text, so that a budget cuts it and a cursor continues it. */
export const branch: Tool = {
  name: 'branch',
  async execute({ host }, input) {
    const { brief, ...data } = await host.ask('BranchOpen', input);
    return { data, streams: [{ field: 'brief', text: typeof brief === 'string' ? brief : '' }] };
  },
};
