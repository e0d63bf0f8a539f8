import type { Tool } from '../../src/sdk/tool.ts';

/** FR-6.2 FR-6.4: closes the branch of the call and gives its parent the message. */
export const returnFromBranch: Tool = {
  name: 'return',
  async execute({ host }, input) {
    const { message, ...data } = await host.ask('BranchReturn', input);
    return { data, streams: [{ field: 'message', text: typeof message === 'string' ? message : '' }] };
  },
};
