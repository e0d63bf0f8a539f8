import { foreignLine } from '../../text/foreign-line.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import { truncateDescription } from './truncate.ts';

/** Tokens (cl100k) of a tool in a list of all tools, as a client sends it to a model with the longest prefix that clients use. */
export const LISTED_MAX_TOKENS = 60;

/** The description of a tool that is listed without its schema (gateway surface §4.1), cut so that the whole entry fits. */
export function listedDescription(name: string, description: string, counter: TokenCounter): string {
  const text = foreignLine(description);
  const tokensWith = (shown: string): number =>
    counter.count(
      JSON.stringify({ name: `mcp__contextd__${name}`, description: shown, input_schema: { type: 'object' } }),
    );
  for (let budget = LISTED_MAX_TOKENS - tokensWith(''); budget > 0; budget--) {
    const shown = truncateDescription(text, budget, counter);
    if (tokensWith(shown) <= LISTED_MAX_TOKENS) return shown;
  }
  return '';
}
