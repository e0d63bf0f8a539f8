import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { PINNED_VERSION } from '../../scrub/gitleaks/pinned.ts';
import type { CliContext } from '../context.ts';
import type { Check } from '../render.ts';
import { fail, ok, warn } from './check.ts';
import { inspectProxy } from './installed-proxy.ts';
import { versionOf } from './program-version.ts';

const NODE_MAJOR = 24;

export async function checkConfiguration(context: CliContext): Promise<Check> {
  await loadConfig(context.paths);
  return ok('configuration', context.paths.configFile);
}

/** The compiled proxy runs and has the installed version. */
export async function checkProxy(context: CliContext): Promise<Check> {
  const { proxyBinary } = context.paths;
  const found = await inspectProxy(context);
  if (found.fault !== null) return fail('proxy', found.fault, found.remedy);
  if (!(await isScript(proxyBinary))) return ok('proxy', found.version);
  return warn(
    'proxy',
    `${found.version}, run by Node: slower to start`,
    'Install Bun (npm install in the installation) and build again.',
  );
}

async function isScript(file: string): Promise<boolean> {
  const handle = await open(file, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.toString('latin1') === '#!';
  } finally {
    await handle.close();
  }
}

export async function checkVersions(context: CliContext): Promise<Check[]> {
  const node = `${process.version} (${process.execPath})`;
  const current = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR;
  const bun = await versionOf(context, join(context.paths.installRoot, 'node_modules', '.bin', 'bun'));
  return [
    current
      ? ok('node', node)
      : fail('node', node, `contextd needs Node ${NODE_MAJOR}: run \`npm ci\` in the installation.`),
    ...(bun === undefined ? [] : [ok('bun', bun)]),
  ];
}

/** The rules of this installation, each file read. The daemon reports on the gitleaks program. */
export async function checkRules(): Promise<Check> {
  const { readRuleSources } = await import('../../scrub/rule-sources.ts');
  const { pack } = readRuleSources();
  return ok('rules', `those of gitleaks ${PINNED_VERSION}, and ${pack.length} files of contextd's own`);
}
