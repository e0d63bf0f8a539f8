import { failed, faultless, type ToolCheck, within } from './check.ts';
import { TOOL_LIMITS } from './limits.ts';
import type { FileText } from './read-file.ts';

/** The line of a form: what it must be, and a test of it. */
type Line = readonly [wanted: string, fits: (line: string, name: string) => boolean];

const REF = '**Ref**: `TOOL_EXTENDED.md`';
const NOT = '**Not**: ';
const ARROW = ' → `';

/** DATA-3, line by line; the last one is what follows the last line end: nothing. */
const FORM: readonly Line[] = [
  ['# and the name of the tool', (line, name) => line === `# ${name}`],
  ['> and its purpose', (line) => begins(line, '> ')],
  ['empty', (line) => line === ''],
  ['**Use**: and when to use it', (line) => begins(line, '**Use**: ')],
  [`${NOT}and what it is not for → \`the tool for that\``, isNot],
  ['**Limits**: and its limits', (line) => begins(line, '**Limits**: ')],
  [REF, (line) => line === REF],
  ['the end of the file, after one line end', (line) => line === ''],
];

/** FR-2.4, CE-1.2, DATA-3. */
export function checkToolMd(file: FileText, name: string, countTokens: (text: string) => number): ToolCheck[] {
  if (file === null) return [failed('TOOL.md', 'it is missing', 'Write it, in the form of DATA-3.')];
  if ('fault' in file) return [failed('TOOL.md', `it ${file.fault}`, 'Make it a short plain text file.')];
  return [
    faultless('TOOL.md form', formFaults(file.text, name), 'as DATA-3 asks', 'Correct these lines.'),
    within(
      'TOOL.md cost',
      countTokens(file.text),
      TOOL_LIMITS.toolMdTokens,
      'Say less; the rest goes to TOOL_EXTENDED.md.',
    ),
  ];
}

/** True when TOOL.md sends its reader to TOOL_EXTENDED.md. */
export function namesExtended(file: FileText): boolean {
  return file !== null && 'text' in file && file.text.includes('`TOOL_EXTENDED.md`');
}

function formFaults(text: string, name: string): string[] {
  if (/[\r\u2028\u2029]/.test(text)) return ['its lines must end with a line feed alone'];
  const lines = text.split('\n', FORM.length + 1);
  if (lines.length > FORM.length) return [`it has more than ${FORM.length - 1} lines`];
  return FORM.flatMap(([wanted, fits], index) =>
    fits(lines[index] ?? '\n', name) ? [] : [`line ${index + 1} must be: ${wanted}`],
  );
}

function begins(line: string, start: string): boolean {
  return line.startsWith(start) && line.length > start.length;
}

function isNot(line: string): boolean {
  const arrow = line.indexOf(ARROW, NOT.length + 1);
  return line.startsWith(NOT) && arrow !== -1 && line.lastIndexOf('`') > arrow + ARROW.length;
}
