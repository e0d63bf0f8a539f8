import { readEnvironment } from '../src/config/env.ts';
import { findInstallRoot } from '../src/config/install-root.ts';
import { resolvePaths } from '../src/config/paths.ts';
import { buildWithGo, installGitleaks } from '../src/scrub/gitleaks/install.ts';
import { releaseFor } from '../src/scrub/gitleaks/pinned.ts';

// Installs the gitleaks program and its rules for the current user; install.sh calls it. It fails if a directory cannot be
// written. It does not fail if gitleaks is unavailable: contextd then masks with its own rules and says so.
const environment = readEnvironment();
const { gitleaksDir } = resolvePaths(environment, findInstallRoot());
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

const { binary, config } = await installGitleaks({
  places: { gitleaksDir, searchPath: environment.path, home: environment.home },
  release: releaseFor(process.platform, process.arch),
  runGo: buildWithGo,
  say,
});
if (config === null)
  say("gitleaks' rules are not installed, so contextd uses only its own. `ctxd doctor` says what that leaves out.");
else say(`gitleaks' rules (${config.version ?? 'not the pinned version'}): ${gitleaksDir}`);
if (binary === null) say('gitleaks itself is not installed: stored outputs are not searched a second time.');
