import { ContextdError } from '../../core/errors.ts';
import { parseManifest } from '../manifest.ts';
import { TOOL_NAME_PATTERN } from '../tool-name.ts';
import { failed, faultless, TOOL_LIMITS, type ToolCheck, within } from './check.ts';
import type { FileText, ToolDirectory } from './read-tool.ts';
import { checkSchema } from './schema.ts';

/** What all rules say of one tool. */
export interface ToolReport {
  name: string;
  dir: string;
  /** Of schema.json as it is installed; null when it could not be read. */
  schemaTokens: number | null;
  checks: readonly ToolCheck[];
}

/** Holds a tool against every rule there is. `countTokens` counts in cl100k_base. */
export function verifyTool(tool: ToolDirectory, countTokens: (text: string) => number): ToolReport {
  const { name, dir, layout, strays } = tool;
  const schema = checkSchema(tool.schema, name, countTokens);
  const isNamed = TOOL_NAME_PATTERN.test(name);
  const checks = [
    faultless('name', isNamed ? [] : [`it does not match ${TOOL_NAME_PATTERN}`], name, 'Name the directory otherwise.'),
    faultless('directory', shortened(strays), 'holds what is its own', 'Take these away.'),
    ...(layout === 'source' ? [checkManifest(tool)] : []),
    ...checkToolMd(tool.toolMd, name, countTokens),
    ...checkExtended(tool.extended, namesExtended(tool.toolMd), schema.names ?? []),
    ...schema.checks,
  ];
  return { name, dir, schemaTokens: schema.tokens, checks };
}

/** CE-1.1: what finding the tools costs an agent. */
export function verifyTogether(reports: readonly ToolReport[]): ToolCheck {
  const total = reports.reduce((sum, { schemaTokens }) => sum + (schemaTokens ?? 0), 0);
  return within('all schemas', total, TOOL_LIMITS.allSchemasTokens, 'Describe less, or take a tool away.');
}

const SHOWN_MAX = 5;

function shortened(faults: readonly string[]): string[] {
  const more = faults.length - SHOWN_MAX;
  return more <= 0 ? [...faults] : [...faults.slice(0, SHOWN_MAX), `and ${more} more`];
}

function checkManifest({ manifest, name, dir }: ToolDirectory): ToolCheck {
  if (manifest === null) return failed('tool.json', 'it is missing', 'Write it.');
  if ('fault' in manifest) return failed('tool.json', `it ${manifest.fault}`, 'Make it a small plain file of JSON.');
  try {
    const own = parseManifest(`${dir}/tool.json`, manifest.text).name;
    return faultless('tool.json', own === name ? [] : [`it is of ${own}`], 'valid', 'Name tool and directory alike.');
  } catch (thrown) {
    if (thrown instanceof ContextdError) return failed('tool.json', thrown.message, 'Correct the file.');
    throw thrown;
  }
}

/** FR-2.5: there where TOOL.md sends its reader, and with all that an agent can pass. */
function checkExtended(file: FileText, isNamed: boolean, names: readonly string[]): ToolCheck[] {
  if (file === null)
    return isNamed ? [failed('TOOL_EXTENDED.md', 'it is missing, and TOOL.md names it', 'Write it.')] : [];
  if ('fault' in file) return [failed('TOOL_EXTENDED.md', `it ${file.fault}`, 'Make it a plain text file.')];
  const silent = names.filter((name) => !file.text.includes(`\`${name}\``));
  const faults = silent.length === 0 ? [] : [`it does not name ${silent.map((name) => `\`${name}\``).join(', ')}`];
  return [faultless('TOOL_EXTENDED.md', faults, `names every argument (${names.length})`, 'Say what each is for.')];
}

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
