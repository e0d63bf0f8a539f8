import { basename, dirname } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { invisibleIn } from '../../core/invisible.ts';
import { describeGrants } from '../describe-grants.ts';
import { parseManifest } from '../manifest.ts';
import { listTools } from '../tool-list.ts';
import { TOOL_NAME_PATTERN } from '../tool-name.ts';
import { failed, faultless, TOOL_LIMITS, type ToolCheck, within } from './check.ts';
import type { FileText, ToolDirectory } from './read-tool.ts';
import { checkSchema } from './schema.ts';

/** The results of all rules for one tool. */
export interface ToolReport {
  name: string;
  dir: string;
  /** Tokens of schema.json as installed; null if it could not be read. */
  schemaTokens: number | null;
  checks: readonly ToolCheck[];
}

/** Checks a tool against every rule. `countTokens` counts in cl100k_base. */
export function verifyTool(
  tool: ToolDirectory,
  countTokens: (text: string) => number,
  whose: 'core' | 'others',
): ToolReport {
  const { dir, layout, strays } = tool;
  const name = nameOf(tool);
  const schema = checkSchema(tool.schema, name, countTokens, whose);
  const isNamed = TOOL_NAME_PATTERN.test(name);
  const checks = [
    faultless('name', isNamed ? [] : [`it does not match ${TOOL_NAME_PATTERN}`], name, 'Rename the directory.'),
    faultless('directory', shortened(strays), 'has only files of the tool', 'Remove these entries.'),
    ...(layout === 'source' ? [checkManifest(tool, name)] : []),
    ...checkToolMd(tool.toolMd, name, countTokens),
    ...checkExtended(tool.extended, namesExtended(tool.toolMd), schema.names ?? []),
    ...schema.checks,
    checkVisible(tool),
  ];
  return { name, dir, schemaTokens: schema.tokens, checks };
}

/** Agents read these texts, and so does the person who decides whether they may: both must read the same. */
function checkVisible({ schema, toolMd, extended }: ToolDirectory): ToolCheck {
  const texts = { 'TOOL.md': textsOf(toolMd), 'TOOL_EXTENDED.md': textsOf(extended), 'schema.json': stringsOf(schema) };
  const faults = Object.entries(texts).flatMap(([file, found]) => {
    const character = found.map((text) => invisibleIn(text, 'document')).find((one) => one !== null);
    return character === undefined ? [] : [`${file} holds ${character}`];
  });
  return faultless('characters', faults, 'all print', 'Remove the characters that do not print.');
}

function textsOf(file: FileText): string[] {
  return file !== null && 'text' in file ? [file.text] : [];
}

/** The text, and the strings in it as an agent's client decodes them. */
function stringsOf(file: FileText): string[] {
  const strings = textsOf(file);
  try {
    for (const text of [...strings]) {
      JSON.parse(text, (key, value: unknown) => {
        strings.push(key, ...(typeof value === 'string' ? [value] : []));
        return value;
      });
    }
  } catch {
    // Another check says that it is not JSON.
  }
  return strings;
}

/** A tool in a folder `tools` is found by the name of its own folder. Any other folder may have any name. */
function nameOf({ name, dir, layout, manifest }: ToolDirectory): string {
  const isFoundByFolder = layout === 'installed' || basename(dirname(dir)) === 'tools';
  if (isFoundByFolder || manifest === null || 'fault' in manifest) return name;
  try {
    return parseManifest('tool.json', manifest.text).name;
  } catch {
    return name;
  }
}

/** CE-1.1: the tokens an agent spends to discover the tools that it is shown. */
export function verifyTogether(reports: readonly (ToolReport & { isCore: boolean })[]): ToolCheck {
  const { listed, searched, tokens } = listTools(reports);
  const all = listed.length + searched.length;
  const counted = searched.length === 0 ? `${all}` : `${listed.length} of ${all}`;
  const rule = `${searched.length === 0 ? 'all' : 'listed'} schemas (${counted})`;
  const check = within(rule, tokens, TOOL_LIMITS.allSchemasTokens, 'Shorten the descriptions, or remove a tool.');
  if (searched.length === 0) return check;
  const others = shortened(searched.map(({ name }) => name)).join(', ');
  return { ...check, detail: `${check.detail}; agents find the others with tool_browse: ${others}` };
}

const SHOWN_MAX = 5;

function shortened(faults: readonly string[]): string[] {
  const more = faults.length - SHOWN_MAX;
  return more <= 0 ? [...faults] : [...faults.slice(0, SHOWN_MAX), `and ${more} more`];
}

function checkManifest({ manifest, dir }: ToolDirectory, name: string): ToolCheck {
  if (manifest === null) return failed('tool.json', 'it is missing', 'Write it.');
  if ('fault' in manifest) return failed('tool.json', `it ${manifest.fault}`, 'Make it a small plain JSON file.');
  try {
    const { name: own, grants } = parseManifest(`${dir}/tool.json`, manifest.text);
    return faultless(
      'tool.json',
      own === name ? [] : [`it names the tool ${own}`],
      grants.length === 0
        ? 'valid'
        : `valid; a person is asked whether it may ${describeGrants({ grants }).join('; ')}`,
      'Give tool and directory the same name.',
    );
  } catch (thrown) {
    if (thrown instanceof ContextdError) return failed('tool.json', thrown.message, 'Correct the file.');
    throw thrown;
  }
}

/** FR-2.5: the file exists if TOOL.md refers to it, and names every argument. */
function checkExtended(file: FileText, isNamed: boolean, names: readonly string[]): ToolCheck[] {
  if (file === null)
    return isNamed ? [failed('TOOL_EXTENDED.md', 'it is missing, but TOOL.md refers to it', 'Write it.')] : [];
  if ('fault' in file) return [failed('TOOL_EXTENDED.md', `it ${file.fault}`, 'Make it a plain text file.')];
  const missing = names.filter((name) => !file.text.includes(`\`${name}\``));
  const faults = missing.length === 0 ? [] : [`it does not name ${missing.map((name) => `\`${name}\``).join(', ')}`];
  return [faultless('TOOL_EXTENDED.md', faults, `names every argument (${names.length})`, 'Describe each argument.')];
}

/** One line of the form: what it must be, and a test for it. */
type Line = readonly [wanted: string, fits: (line: string, name: string) => boolean];

const REF = '**Ref**: `TOOL_EXTENDED.md`';
const NOT = '**Not**: ';
const ARROW = ' → `';

/** The form of DATA-3, line by line. The last entry is the empty text after the last line end. */
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

/** Checks FR-2.4, CE-1.2 and DATA-3. */
export function checkToolMd(file: FileText, name: string, countTokens: (text: string) => number): ToolCheck[] {
  if (file === null)
    return [failed('TOOL.md', 'it is missing', 'Write it in the form that docs/plugins.md describes.')];
  if ('fault' in file) return [failed('TOOL.md', `it ${file.fault}`, 'Make it a short plain text file.')];
  return [
    faultless('TOOL.md form', formFaults(file.text, name), 'as docs/plugins.md describes', 'Correct these lines.'),
    within(
      'TOOL.md cost',
      countTokens(file.text),
      TOOL_LIMITS.toolMdTokens,
      'Shorten it; move the rest to TOOL_EXTENDED.md.',
    ),
  ];
}

/** True if TOOL.md refers to TOOL_EXTENDED.md. */
export function namesExtended(file: FileText): boolean {
  return file !== null && 'text' in file && file.text.includes('`TOOL_EXTENDED.md`');
}

function formFaults(text: string, name: string): string[] {
  if (/[\r\u2028\u2029]/.test(text)) return ['its lines must end with a line feed only'];
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
