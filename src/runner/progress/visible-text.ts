import { COLOUR } from '../../text/terminal.ts';

/** Colours, and any other control character except line ends and tabs. */
const STEERING = new RegExp(`${COLOUR}|(?![\\t\\n])[\\p{Cc}\\p{Bidi_Control}]`, 'gu');
const RESET_COLOURS = '\u001b[0m';
/** What a line that is written over and over shows at last. */
const OVERWRITTEN = /[^\r\n]*\r(?=[^\r\n])/g;
const LINE_ENDS_WITH_RETURN = /\r+(?=\n|$)/g;

/**
 * Output that cannot steer the terminal it is shown on: of control characters line ends, tabs and colours stay, the
 * others become visible. Whole lines, after one that says how many bytes before them are not shown.
 */
export function forPerson(text: string, skippedBytes: number): string {
  const lines = text.replaceAll(LINE_ENDS_WITH_RETURN, '').replaceAll(OVERWRITTEN, '');
  let isColoured = false;
  const visible = lines.replaceAll(STEERING, (found) => {
    if (found.length === 1) return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
    isColoured = true;
    return found;
  });
  const skipped = skippedBytes === 0 ? '' : `[contextd: ${skippedBytes} bytes are not shown here]\n`;
  const end = visible.endsWith('\n') || visible === '' ? '' : '\n';
  return `${skipped}${visible}${isColoured ? RESET_COLOURS : ''}${end}`;
}
