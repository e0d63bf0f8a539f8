import { withScriptMark } from './content-hash.ts';

/**
 * The plugin of OpenCode. It gives OpenCode's shell the tools by name, and its calls the session of the conversation,
 * which OpenCode does not put into the environment by itself. It needs no package and derives every path from its own.
 */
export function pluginText(): string {
  return withScriptMark(PLUGIN);
}

const PLUGIN = `// Puts the tools of contextd on the PATH of OpenCode's shell and gives each conversation a session of its own.
import { delimiter, join } from 'node:path';

const bin = join(import.meta.dirname, '..', 'bin');

export const contextd = async ({ client }) => {
  const tops = new Map();

  /** The conversation that a person started: a subagent shares its session. */
  async function topOf(id) {
    const { data } = await client.session.get({ path: { id } }).catch(() => ({}));
    return data?.parentID === undefined ? id : topOf(data.parentID);
  }

  return {
    'shell.env': async ({ sessionID }, output) => {
      output.env.PATH = [bin, output.env.PATH ?? process.env.PATH].filter(Boolean).join(delimiter);
      if (sessionID === undefined || process.env.CONTEXTD_SESSION_ID) return;
      if (!tops.has(sessionID)) tops.set(sessionID, await topOf(sessionID));
      output.env.CONTEXTD_SESSION_ID = tops.get(sessionID);
    },
  };
};
`;
