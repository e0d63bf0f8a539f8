import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../../core/shell-quote.ts';
import type { CliContext } from '../context.ts';
import { askVersion } from './program-version.ts';

/** What is wrong with the program that every tool link leads to, or what it says of itself. */
export type InstalledProxy =
  | { readonly fault: string; readonly remedy: string }
  | { readonly fault: null; readonly version: string };

/** Runs the installed proxy. It refuses to run if it is not where it was built for, as it then refuses every call. */
export async function inspectProxy(context: CliContext): Promise<InstalledProxy> {
  const { proxyBinary, installRoot } = context.paths;
  const remedy = howToBuild(installRoot);
  const { version, error } = await askVersion(context, proxyBinary);
  if (version === undefined)
    return {
      fault: `${proxyBinary} ${error === '' ? 'is missing or does not run' : `does not run: ${error}`}`,
      remedy,
    };
  if (version.includes(context.version)) return { fault: null, version };
  return { fault: `${proxyBinary} says "${version}", installed is ${context.version}`, remedy };
}

/** A package from npm brings the program, and no script that builds it. */
function howToBuild(installRoot: string): string {
  const script = join(installRoot, 'dist', 'scripts', 'build-proxy.js');
  if (!existsSync(script)) return 'Install contextd again.';
  const node = join(installRoot, 'node_modules', '.bin', 'node');
  return `Build it for this place: \`${shellWord(node)} ${shellWord(script)}\``;
}
