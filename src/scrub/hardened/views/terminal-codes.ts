import { editMatches } from './edits.ts';
import type { View } from './view.ts';

const [ESC, CSI, BEL] = ['\x1b', '\x9b', '\x07'];
const STARTS = [ESC, CSI, '^[[', '^[]'];

/** CSI (colours, cursor), OSC (titles, links), DCS and the like to their end or the line's, and short sequences. */
const CODES = new RegExp(
  [
    `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]`,
    `${ESC}\\][^${BEL}${ESC}\\n]*(?:${BEL}|${ESC}\\\\)?`,
    `${ESC}[PX^_][^${ESC}\\n]*(?:${ESC}\\\\)?`,
    `${ESC}[ -/]*[0-~]`,
    // Made visible, as `cat -v` prints them.
    `\\^\\[(?:\\[[0-?]*[ -/]*[@-~]|\\][0-9][^^\\n]*(?:\\^G|\\^\\[\\\\)?)`,
  ].join('|'),
  'g',
);

/** Without the codes that a terminal obeys and does not show. */
export function withoutTerminalCodes(text: string): View | null {
  if (!STARTS.some((start) => text.includes(start))) return null;
  return editMatches(text, CODES, () => '');
}
