import { readEnvironment } from '../src/config/env.ts';
import { findInstallRoot } from '../src/config/install-root.ts';
import { resolvePaths } from '../src/config/paths.ts';
import { buildWithGo, installGitleaks } from '../src/scrub/gitleaks/install.ts';
import { releaseFor } from '../src/scrub/gitleaks/pinned.ts';

// Installs the gitleaks program for the current user. Exits with 1 without it; install.sh goes on, because contextd has its
// rules without it, unless gitleaks was all that it was asked for.
const environment = readEnvironment();
const { userGitleaksDir } = resolvePaths(environment, findInstallRoot());
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const binary = await installGitleaks({
  directory: userGitleaksDir,
  searchPath: environment.path,
  release: releaseFor(process.platform, process.arch),
  runGo: buildWithGo,
  say,
});
if (binary === null) {
  say('gitleaks itself is not installed: outputs are not searched a second time.');
  process.exitCode = 1;
}
