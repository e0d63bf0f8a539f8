import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { projectAt } from '../project-root.ts';

/** Lists the vault of a session by number. The daemon never sends a value. */
export const sessionSecrets = defineCommand({
  name: ['session', 'secrets'],
  summary: 'List the secrets of a session: token, kind, rule and uses, never a value.',
  options: [
    {
      syntax: '--session <id>',
      help: "the session id (default: from the client's environment, otherwise the project's current session)",
    },
    { syntax: '--project <dir>', help: 'the project directory (default: the current project)' },
  ],
  async run(context, args) {
    const root = await projectAt(context, args.text('project'));
    const session = args.text('session') ?? context.env.sessionId ?? '';
    return withClient(context.paths, (client) => client.sessionSecrets({ root, session }));
  },
  view: ({ session, secrets }) => ({
    kind: 'table',
    columns: ['TOKEN', 'KIND', 'RULE', 'TOOL', 'FIRST SEEN', 'USES', 'OPENED'],
    rows: secrets.map((secret) => [
      secret.token,
      secret.kind,
      secret.rule,
      secret.tool,
      timeOf(secret.first_seen_ms),
      String(secret.uses),
      secret.opened === 0 ? '0' : `${secret.opened}, last ${timeOf(secret.last_opened_ms)}`,
    ]),
    empty: `no secrets in session ${session}`,
  }),
});

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
