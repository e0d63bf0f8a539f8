import type { Tool } from '../../src/sdk/tool.ts';

/** FR-7.1: saves what the session did so far. The host reads its events, and masks what is handed in. */
export const checkpointSave: Tool = {
  name: 'checkpoint_save',
  async execute({ host }, input) {
    return { data: await host.ask('CheckpointSave', input) };
  },
};
