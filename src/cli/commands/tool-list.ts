import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { projectOption } from '../project-option.ts';

export const toolList = defineCommand({
  name: ['tool', 'list'],
  summary: 'list the tools',
  options: [{ syntax: '--project [dir]', help: 'only those accepted for a project (default: the one around here)' }],
  async run(context, given) {
    const root = await projectOption(context, given);
    const tools = await withClient(context.paths, (client) => client.listTools(root));
    return tools.map(({ name, purpose, origin, bundle_sha256, grants }) => ({
      name,
      purpose,
      origin,
      bundle_sha256,
      grants,
    }));
  },
  view: (tools) => ({
    kind: 'table',
    columns: ['NAME', 'ORIGIN', 'PURPOSE'],
    rows: tools.map(({ name, origin, purpose }) => [name, origin, purpose]),
    empty: 'no tools',
  }),
});
