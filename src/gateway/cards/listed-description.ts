import { foreignLine } from '../../text/foreign-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import { truncateDescription } from './truncate.ts';

/** Tokens (cl100k) of a tool in a list of all tools, as any client sends it to its model. */
export const LISTED_MAX_TOKENS = 60;

/** How Claude Code and OpenCode write the definition of a tool. */
const SENT_AS: readonly ((name: string, description: string) => object)[] = [
  (name, description) => ({ name: `mcp__contextd__${name}`, description, input_schema: { type: 'object' } }),
  (name, description) => ({
    type: 'function',
    function: {
      name: `contextd_${name}`,
      description,
      parameters: { type: 'object', properties: {}, additionalProperties: false },
    },
  }),
];

/** The description of a tool that is listed without its schema (gateway surface §4.1), cut so that the whole entry fits. */
export function listedDescription(name: string, description: string, counter: TokenCounter): string {
  const text = foreignLine(description);
  const tokensWith = (shown: string): number =>
    Math.max(...SENT_AS.map((form) => counter.count(JSON.stringify(form(name, shown)))));
  for (let budget = LISTED_MAX_TOKENS - tokensWith(''); budget > 0; budget--) {
    const shown = truncateDescription(text, budget, counter);
    if (tokensWith(shown) <= LISTED_MAX_TOKENS) return shown;
  }
  return '';
}
