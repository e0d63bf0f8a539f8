import { SURFACES } from '../../core/surfaces.ts';
import { defineCommand } from '../command.ts';
import { serveOptions } from '../mcp/serve-options.ts';

export const mcpServe = defineCommand({
  name: ['mcp', 'serve'],
  summary: 'Serve the tools of a project to an MCP client, on standard input and output.',
  options: [
    { syntax: '--project <dir>', help: 'the project (default: the current project)' },
    { syntax: '--surface <name>', help: `what the client sees: ${SURFACES.join(', ')} (default: gateway.surface)` },
    {
      syntax: '--session <id>',
      help: 'the session of the calls (default: CONTEXTD_SESSION_ID or CLAUDE_CODE_SESSION_ID)',
    },
  ],
  async run(context, args) {
    const [surface, project, session] = [args.text('surface'), args.text('project'), args.text('session')];
    const options = serveOptions({ surface, project, session });
    const { serveMcp } = await import('../mcp/serve.ts');
    await serveMcp(context, options);
  },
  bare: () => '',
  view: () => ({ kind: 'raw', text: '' }),
});
