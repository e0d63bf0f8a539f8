import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { projectAt } from '../project-option.ts';

/** Once: if a command makes or changes it again, it is set aside again. */
export const quarantineRestore = defineCommand({
  name: ['quarantine', 'restore'],
  summary: 'put back a file that was set aside, until a command changes it',
  parameters: [
    { syntax: '<id>', help: 'as `ctxd quarantine list` and the answer of the call name it' },
    { syntax: '[path]', help: 'the project (default: the one around here)' },
  ],
  async run(context, given) {
    const root = await projectAt(context, given.word(1));
    return withClient(context.paths, (client) => client.restoreQuarantined(root, given.requiredWord(0)));
  },
  view: ({ items }) => ({
    kind: 'lines',
    lines: items.map(({ path }) => `Restored: ${path}. If a command changes it, it is set aside again.`),
  }),
});
