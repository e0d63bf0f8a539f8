import { rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hashBundle, hashFiles } from '../catalog/bundle.ts';
import { parseManifest, type ToolManifest } from '../catalog/manifest.ts';
import { checkName } from '../catalog/reserved-names.ts';
import { TOOL_LIMITS } from '../catalog/verify-tool/check.ts';
import { readPlainFile } from '../catalog/verify-tool/read-tool.ts';
import { verifyDirectory } from '../catalog/verify-tool/verify-directory.ts';
import { ContextdError } from '../core/errors.ts';

/** A fetched tool that may be offered to a person. */
export interface CheckedTool {
  manifest: ToolManifest;
  /** Absolute; its last part is the name of the tool. */
  dir: string;
  bundleSha256: string;
  schemaJson: string;
  toolMd: string;
  toolExtendedMd: string;
  schemaTokens: number;
  /** As `hashFiles` gives them. */
  files: ReadonlyMap<string, string>;
  bytes: number;
}

export interface CheckDeps {
  /** Tokens in cl100k_base. */
  countTokens(text: string): number;
  /** PATH of the daemon; the CLI checks the name with the one of the person. */
  searchPath: string;
}

/** Failed rules that one message names. */
const SHOWN_MAX = 4;

/**
 * Checks a fetched tool as `ctxd tool verify` does, and that its name may be taken. None of its code runs. The directory is
 * renamed to the name of the tool. Throws SCHEMA_INVALID for a fault of the tool, CONFLICT for a name that is taken.
 */
export async function checkTool(fetchedDir: string, { countTokens, searchPath }: CheckDeps): Promise<CheckedTool> {
  const manifest = await manifestOf(fetchedDir);
  const { name } = manifest;
  await checkName(name, searchPath);
  const dir = join(dirname(fetchedDir), name);
  if (dir !== fetchedDir) await rename(fetchedDir, dir);
  const { found, report } = await verifyDirectory(dir, { countTokens, searchPath, proxyBinary: '' });
  const failed = report.checks.filter((check) => !check.passed);
  if (failed.length > 0) {
    const shown = failed.slice(0, SHOWN_MAX).map(({ rule, detail }) => `${rule}: ${detail}`);
    const more = failed.length > SHOWN_MAX ? `; and ${failed.length - SHOWN_MAX} more` : '';
    throw new ContextdError('SCHEMA_INVALID', `the tool ${name} breaks rules: ${shown.join('; ')}${more}`, {
      remedy: 'Its author finds all of them with `ctxd tool verify DIR`.',
      details: { failed: failed.map(({ rule, detail }) => ({ rule, detail })) },
    });
  }
  const files = await hashFiles(dir);
  return {
    manifest,
    dir,
    bundleSha256: await hashBundle(dir),
    schemaJson: textOf(found.schema).trim(),
    toolMd: textOf(found.toolMd),
    toolExtendedMd: textOf(found.extended),
    schemaTokens: report.schemaTokens ?? 0,
    files,
    bytes: await sizeOf(dir, [...files.keys()]),
  };
}

async function manifestOf(dir: string): Promise<ToolManifest> {
  const file = await readPlainFile(join(dir, 'tool.json'), TOOL_LIMITS.manifestBytes);
  if (file === null) {
    throw new ContextdError('SCHEMA_INVALID', 'there is no tool.json: this is not a tool of contextd', {
      remedy: 'Name the directory of the tool in its source with //, such as github.com/org/repo//tools/weather.',
    });
  }
  if ('fault' in file) {
    throw new ContextdError('SCHEMA_INVALID', `tool.json ${file.fault}`, { remedy: 'Its author must correct it.' });
  }
  return parseManifest('tool.json', file.text);
}

function textOf(file: Awaited<ReturnType<typeof readPlainFile>>): string {
  return file !== null && 'text' in file ? file.text : '';
}

async function sizeOf(dir: string, files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(dir, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
