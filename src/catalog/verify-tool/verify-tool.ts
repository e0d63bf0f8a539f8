import { ContextdError } from '../../core/errors.ts';
import { parseManifest, TOOL_NAME_PATTERN } from '../manifest.ts';
import { failed, faultless, type ToolCheck, within } from './check.ts';
import { TOOL_LIMITS } from './limits.ts';
import type { FileText } from './read-file.ts';
import type { ToolDirectory } from './read-tool.ts';
import { checkSchema } from './schema.ts';
import { checkToolMd, namesExtended } from './tool-md.ts';

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
