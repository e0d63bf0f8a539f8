import { readEnvironment } from '../src/config/env.ts';
import { findInstallRoot } from '../src/config/install-root.ts';
import { resolvePaths } from '../src/config/paths.ts';
import { buildWithGo, installGitleaks } from '../src/scrub/gitleaks/install.ts';
import { releaseFor } from '../src/scrub/gitleaks/pinned.ts';

// The gitleaks program and its rules for the user who runs this: install.sh calls it. It fails for a folder that
// cannot be written, never because gitleaks cannot be had: contextd masks with its own rules then, and says so.
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
  say("gitleaks' rules are not here: contextd masks with its own. What that leaves out: ctxd doctor");
else say(`gitleaks' rules (${config.version ?? 'of a version that is not the pinned one'}): ${gitleaksDir}`);
if (binary === null) say('gitleaks itself is not here: stored outputs are not searched a second time.');
