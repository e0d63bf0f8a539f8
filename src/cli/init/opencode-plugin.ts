import { PERSONS_COMMANDS } from './client-settings.ts';
import { withScriptMark } from './content-hash.ts';

/**
 * The plugin of OpenCode. It gives OpenCode's shell the tools by name, and its calls the session of the conversation,
 * which OpenCode does not put into the environment by itself. It needs no package and derives every path from its own.
 */
export function pluginText(): string {
  return withScriptMark(PLUGIN);
}

const PERSONS = PERSONS_COMMANDS.map((words) => words.replace(' ', '\\s+')).join('|');

const PLUGIN = `// Puts the tools of contextd on the PATH of OpenCode's shell, and gives each conversation a session of its own, which
// ends with it. Refuses the commands by which a person widens what agents may do.
import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { env } from 'node:process';

const root = join(import.meta.dirname, '..', '..');
const bin = join(root, '.claude', 'bin');
const PERSONS = /ctxd\\s+(?:${PERSONS})\\b/;

export const contextd = async ({ client }) => {
  const sessions = new Map();

  /** The conversation that a person started: what it delegates shares its session. */
  async function topOf(id) {
    const { data } = await client.session.get({ path: { id } }).catch(() => ({}));
    return data?.parentID === undefined ? id : topOf(data.parentID);
  }

  /** Does nothing in a clone in which nobody ran \`ctxd init\`. */
  function end(id) {
    const proxy = realpathOrNothing(join(bin, 'safe_bash'));
    if (basename(proxy) !== 'contextd-proxy') return Promise.resolve();
    const words = ['session', 'end', root, '--session', id];
    return new Promise((done) => execFile(join(dirname(proxy), 'ctxd'), words, { timeout: 15_000 }, () => done()));
  }

  return {
    'tool.execute.before': async ({ tool }, output) => {
      const command = output.args?.command;
      if (tool !== 'bash' || typeof command !== 'string' || !PERSONS.test(command)) return;
      throw new Error('Only a person may run this command of ctxd. Tell the person what it is for and ask them to run it.');
    },
    'shell.env': async ({ sessionID }, output) => {
      output.env.PATH = [bin, output.env.PATH ?? env.PATH].filter(Boolean).join(delimiter);
      if (sessionID === undefined || env.CONTEXTD_SESSION_ID) return;
      if (!sessions.has(sessionID)) sessions.set(sessionID, await topOf(sessionID));
      output.env.CONTEXTD_SESSION_ID = sessions.get(sessionID);
    },
    event: async ({ event }) => {
      const id = event.type === 'session.deleted' ? event.properties.info.id : undefined;
      if (sessions.get(id) === id && sessions.delete(id)) await end(id);
    },
    dispose: async () => {
      await Promise.all([...new Set(sessions.values())].map(end));
    },
  };
};

function realpathOrNothing(path) {
  try {
    return realpathSync(path);
  } catch {
    return '';
  }
}
`;
