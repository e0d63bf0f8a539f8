import type { Tool } from '../../src/sdk/tool.ts';

/**
 * FR-7.2: shows a checkpoint. The host adds the text to the answer: it is masked already, so it does not pass through this
 * process.
 */
export const checkpointRestore: Tool = {
  name: 'checkpoint_restore',
  async execute({ host }, input) {
    return { data: await host.ask('CheckpointRestore', input) };
  },
};
