import { findBinary, type GitleaksPlaces } from '../../scrub/gitleaks/binary.ts';
import { PINNED_VERSION } from '../../scrub/gitleaks/pinned.ts';
import { howToInstall } from '../../scrub/gitleaks/remedy.ts';
import type { CliContext } from '../context.ts';
import type { Check } from '../render.ts';
import { ok, warn } from './check.ts';

/** gitleaks' own rules and program: contextd works without them, and says what that leaves out. */
export async function checkGitleaks({ paths, env }: CliContext): Promise<Check[]> {
  const places = { gitleaksDir: paths.gitleaksDir, searchPath: env.path, home: env.home };
  return [await checkRules(places, paths.installRoot), await checkProgram(places, paths.installRoot)];
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

async function checkProgram(places: GitleaksPlaces, installRoot: string): Promise<Check> {
  const binary = await findBinary(places);
  const name = 'gitleaks program';
  if (binary !== null) return ok(name, `${binary.version ?? 'unknown version'} (${binary.path})`);
  return warn(name, 'not installed: stored outputs are not searched a second time', howToInstall(installRoot));
}
