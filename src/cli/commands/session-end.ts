import { ContextdError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input.ts';
import { findProjectRoot, projectAt } from '../project-root.ts';

/** Bytes of what a client passes to a session-end hook. */
const HOOK_INPUT_MAX_BYTES = 1024 * 1024;

interface Ended {
  root: string;
  session: string;
  ended: boolean;
}

/** Ends a session of an agent: its jobs are stopped. Clients call it with `--hook` when their session ends. */
export const sessionEnd = defineCommand<Ended>({
  name: ['session', 'end'],
  summary: 'End a session: stop its jobs and remove what contextd keeps for it.',
  parameters: [{ syntax: '[path]', help: 'the project directory (default: the current project)' }],
  options: [
    {
      syntax: '--session <id>',
      help: "the session id (default: from the client's environment, otherwise the project's current session)",
    },
    { syntax: '--hook', help: 'read session_id and cwd from the JSON that a client passes to a session-end hook' },
  ],
  async run(context, args) {
    const fromHook = args.flag('hook') ? await readHook(context) : null;
    const path = args.word(0);
    const root =
      fromHook === null || path !== undefined ? await projectAt(context, path) : await findProjectRoot(fromHook.cwd);
    const session = args.text('session') ?? context.env.sessionId ?? fromHook?.session ?? '';
    if (root === undefined) return { root: '', session, ended: false };
    return withClient(context.paths, (client) => client.endSession({ root, session })).catch((thrown: unknown) => {
      // Without a daemon no job runs. The next daemon ends the session when it has been idle for long enough.
      if (thrown instanceof ContextdError && thrown.code === 'DAEMON_UNAVAILABLE')
        return { root, session, ended: false };
      throw thrown;
    });
  },
  view: ({ session, ended }) => ({
    kind: 'lines',
    lines: [ended ? `Session ${session} has ended.` : 'There is no such session, or it has ended already.'],
  }),
});

/** A hook must not fail because a client sends something else: then the environment and the directory decide. */
async function readHook(context: CliContext): Promise<{ session: string | undefined; cwd: string }> {
  const text = (await readInput('-', context, HOOK_INPUT_MAX_BYTES)).toString();
  const input = parsed(text);
  const { session_id: session, cwd } = isJsonObject(input) ? input : {};
  return {
    session: typeof session === 'string' ? session : undefined,
    cwd: typeof cwd === 'string' && cwd.startsWith('/') ? cwd : context.cwd,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
