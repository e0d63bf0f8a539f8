import { readString } from '../../src/sdk/input.ts';
import type { Tool } from '../../src/sdk/tool.ts';

/**
 * Another look at an output that is kept. The host shows it: its text does not pass through here, since it is scrubbed
 * and stored already.
 */
export const toolView: Tool = {
  name: 'tool_view',
  async execute({ host }, input) {
    return { data: await host.ask('ArtifactView', { ref: readString(input, 'ref') }) };
  },
};
