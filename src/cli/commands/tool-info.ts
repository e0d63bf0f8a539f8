import { ContextdError } from '../../core/errors.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';

export const toolInfo = defineCommand({
  name: ['tool', 'info'],
  summary: 'show one tool: what it does, its arguments, what it may ask of the host',
  parameters: [{ syntax: '<name>', help: 'the tool' }],
  async run(context, given) {
    const name = given.requiredWord(0);
    const tools = await withClient(context.paths, (client) => client.listTools(''));
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) {
      throw new ContextdError('TOOL_NOT_FOUND', `there is no tool ${JSON.stringify(name)}`, {
        remedy: `There are ${tools.map((one) => one.name).join(', ')}.`,
      });
    }
    const { schema_json: schemaJson, ...rest } = tool;
    const schema: unknown = JSON.parse(schemaJson);
    return { ...rest, schema };
  },
  view: (tool) => ({
    kind: 'lines',
    lines: [
      ...tool.tool_md.trimEnd().split('\n'),
      '',
      `origin  ${tool.origin}`,
      `sha256  ${tool.bundle_sha256}`,
      `grants  ${tool.grants.length === 0 ? 'none' : tool.grants.join(', ')}`,
      `schema  ${JSON.stringify(tool.schema)}`,
    ],
  }),
});
