import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../../core/errors.ts';
import { whyNotForOthers } from '../effects.ts';
import { parseManifest, type ToolManifest } from '../manifest.ts';
import { faultOfName } from '../reserved-names.ts';
import { faultless, type ToolCheck } from './check.ts';
import { type FileText, readToolDirectory, type ToolDirectory } from './read-tool.ts';
import { type ToolReport, verifyTool } from './verify-tool.ts';

export interface VerifyOptions {
  /** Tokens in cl100k_base. */
  countTokens(text: string): number;
  /** PATH of the person; null: a tool of contextd, whose name is its own and whose program is built elsewhere. */
  searchPath: string | null;
  /** The target that an installed tool's link must have. */
  proxyBinary: string;
}

/**
 * Checks a tool against every rule: the author's `ctxd tool verify` and the installation ask the same. Its code does not run.
 */
export async function verifyDirectory(
  dir: string,
  { countTokens, searchPath, proxyBinary }: VerifyOptions,
): Promise<{ found: ToolDirectory; report: ToolReport }> {
  const found = await readToolDirectory(dir, proxyBinary);
  const report = verifyTool(found, countTokens, searchPath === null ? 'core' : 'others');
  const manifest = found.layout === 'source' ? manifestOf(found.manifest) : null;
  if (manifest === null || searchPath === null) return { found, report };
  const more = [await checkFreeName(manifest, searchPath), checkEffects(manifest), await checkEntry(dir, manifest)];
  return { found, report: { ...report, checks: [...report.checks, ...more] } };
}

/** Null: another check says what is wrong with it. */
function manifestOf(file: FileText): ToolManifest | null {
  if (file === null || 'fault' in file) return null;
  try {
    return parseManifest('tool.json', file.text);
  } catch {
    return null;
  }
}

async function checkFreeName({ name }: ToolManifest, searchPath: string): Promise<ToolCheck> {
  const fault = await faultOfName(name, searchPath);
  const faults = fault === null ? [] : [`${name} ${fault}`];
  return faultless('free name', faults, name, 'Choose another name: agents would call the tool instead.');
}

function checkEffects(manifest: ToolManifest): ToolCheck {
  const fault = whyNotForOthers(manifest);
  const { files, session } = manifest.effects;
  return faultless(
    'effects',
    fault === null ? [] : [fault],
    `files ${files}, session ${session}`,
    'Correct tool.json.',
  );
}

async function checkEntry(dir: string, { profile: { entry, runtime } }: ToolManifest): Promise<ToolCheck> {
  const fault = await faultOfEntry(join(dir, entry), runtime !== 'node');
  return faultless('entry', fault === null ? [] : [`${entry} ${fault.what}`], entry, fault?.remedy ?? '');
}

const BUILD = 'Build the tool first, or name the right file in tool.json.';

async function faultOfEntry(path: string, isProgram: boolean): Promise<{ what: string; remedy: string } | null> {
  try {
    await using file = await open(path, 'r');
    const stats = await file.stat();
    if (!stats.isFile()) return { what: 'is not a file', remedy: BUILD };
    if (!isProgram) return null;
    if ((stats.mode & 0o100) === 0) return { what: 'is not executable', remedy: `chmod +x ${path}` };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    if (bytesRead === 2 && (buffer.toString('latin1') === '#!' || !isTextByte(buffer[0] ?? 0))) return null;
    return {
      what: 'is neither a program nor a script that begins with #!',
      remedy: 'Begin it with a line such as #!/bin/sh.',
    };
  } catch (thrown) {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return { what: 'is missing', remedy: BUILD };
    if (isErrno(thrown)) return { what: `cannot be read (${thrown.code})`, remedy: `chmod +r ${path}` };
    throw thrown;
  }
}

/** No executable format of Linux or macOS begins with one. */
function isTextByte(byte: number): boolean {
  return byte === 0x09 || byte === 0x0a || byte === 0x0d || (byte >= 0x20 && byte <= 0x7e);
}
