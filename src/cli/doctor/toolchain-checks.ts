import { withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { findProjectRoot } from '../project-root.ts';
import type { Check } from '../render.ts';
import { summarizeToolchain } from '../toolchains/describe.ts';
import { missingToolchains } from '../toolchains/offer.ts';
import { ok, warn } from './check.ts';

/** Names the programs outside /usr on PATH that commands cannot run, or not with all that they need. */
export async function checkToolchains(context: CliContext): Promise<Check> {
  const allowed = await withClient(context.paths, (client) => client.listToolchains({}));
  const project = (await findProjectRoot(context.cwd)) ?? null;
  const missing = await missingToolchains(context, allowed, project);
  if (missing.length > 0) {
    const detail = `commands cannot run: ${missing.map(summarizeToolchain).join('; ')}`;
    return warn('toolchains', detail, 'Run `ctxd allow toolchains` to let them.');
  }
  const names = allowed.toolchains.map(({ name }) => name);
  return ok('toolchains', names.length === 0 ? 'no programs outside /usr on PATH' : `allowed: ${names.join(', ')}`);
}
