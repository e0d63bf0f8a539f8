import type { Tool } from '../../src/sdk/tool.ts';

/** FR-7.4: lists the checkpoints of the session with a summary of each. */
export const checkpointList: Tool = {
  name: 'checkpoint_list',
  async execute({ host }) {
    return { data: await host.ask('CheckpointList', {}) };
  },
};
