import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellNameOf } from '#src/core/shell-names.js';

const TOOLS = join(import.meta.dirname, '../../tools');

/** The tools of contextd, and which the daemon answers itself. */
export const OWN_TOOLS: readonly { name: string; isHost: boolean }[] = readdirSync(TOOLS).map((name) => ({
  name,
  isHost: JSON.parse(readFileSync(join(TOOLS, name, 'tool.json'), 'utf8')).runtime === 'host',
}));

/** Names that are no word of a sentence. */
const NAMES = OWN_TOOLS.map(({ name }) => shellNameOf(name)).filter((name) => name.includes('_'));
const MENTION = new RegExp(`(?<![\\w/.:"'@-])(?:${NAMES.join('|')})(?![\\w/@:-]|\\.\\w)`, 'g');

/** The tools of contextd that a text names, although a client with this list of tools has them neither there nor through one that is there. */
export function strangersIn(text: string, listed: readonly string[]): string[] {
  return (text.match(MENTION) ?? []).filter((name) => !listed.includes(name));
}
