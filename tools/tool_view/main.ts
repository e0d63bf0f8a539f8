import { readString } from '../../src/sdk/input.ts';
import type { Tool } from '../../src/sdk/tool.ts';

/**
 * Shows a stored output by another view. The host adds the text to the answer: it is scrubbed and stored already, so it
 * does not pass through this process.
 */
export const toolView: Tool = {
  name: 'tool_view',
  async execute({ host }, input) {
    return { data: await host.ask('ArtifactView', { ref: readString(input, 'ref') }) };
  },
};
