import { OBEYED } from '../../../text/terminal.ts';
import { editMatches, type View } from '../../../text/view.ts';

const STARTS = ['\u001b', '\u009b', '^[[', '^[]'];
/** The codes themselves, and made visible as `cat -v` prints them. */
const CODES = new RegExp(`${OBEYED}|\\^\\[(?:\\[[0-?]*[ -/]*[@-~]|\\][0-9][^^\\n]*(?:\\^G|\\^\\[\\\\)?)`, 'g');

/** Without the codes that a terminal obeys and does not show. */
export function withoutTerminalCodes(text: string): View | null {
  if (!STARTS.some((start) => text.includes(start))) return null;
  return editMatches(text, CODES, () => '');
}
