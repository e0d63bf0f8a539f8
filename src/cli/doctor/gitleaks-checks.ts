import type { GitleaksPlaces } from '../../scrub/gitleaks/binary.ts';
import { howToInstall, PINNED_VERSION } from '../../scrub/gitleaks/pinned.ts';
import type { CliContext } from '../context.ts';
import type { Check } from '../render.ts';
import { ok, warn } from './check.ts';

/** gitleaks' own rules: contextd works without them, and says what that leaves out. The daemon reports its program. */
export async function checkGitleaks({ paths, env }: CliContext): Promise<Check> {
  const places = { gitleaksDir: paths.gitleaksDir, searchPath: env.path, home: env.home };
  return checkRules(places, paths.installRoot);
}

async function checkRules(places: GitleaksPlaces, installRoot: string): Promise<Check> {
  const { findOfficialConfig } = await import('../../scrub/gitleaks/official-config.ts');
  const found = await findOfficialConfig(places);
  const name = 'gitleaks rules';
  if (found === null) {
    const missing = `the 222 rules of gitleaks ${PINNED_VERSION} are missing: only those of contextd are used`;
    return warn(name, missing, howToInstall(installRoot));
  }
  if (found.version !== null) return ok(name, `of gitleaks ${found.version}, from ${found.source}`);
  return warn(name, `${found.source} holds rules of another version than ${PINNED_VERSION}`, howToInstall(installRoot));
}
