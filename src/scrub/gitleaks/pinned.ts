import { join } from 'node:path';

/** The gitleaks whose semantics this engine has; its configuration is what "official" means here. */
export const PINNED_VERSION = '8.30.1';
/** The path under which Go knows it: the module kept its first owner. */
export const GO_MODULE = 'github.com/zricethezav/gitleaks/v8';

/** sha256 of its default configuration, `gitleaks.toml` beside this file. */
export const CONFIG_SHA256 = 'e163e53b9e7e8a8511e77271e2b323ed057759542a6d988258afe3a1fa329caf';

/** An archive of a release and what it must hash to. */
export interface Release {
  url: string;
  sha256: string;
}

const RELEASE_SHA256: Readonly<Record<string, string>> = {
  'linux-x64': '551f6fc83ea457d62a0d98237cbad105af8d557003051f41f3e7ca7b3f2470eb',
  'linux-arm64': 'e4a487ee7ccd7d3a7f7ec08657610aa3606637dab924210b3aee62570fb4b080',
  'darwin-x64': 'dfe101a4db2255fc85120ac7f3d25e4342c3c20cf749f2c20a18081af1952709',
  'darwin-arm64': 'b40ab0ae55c505963e365f271a8d3846efbc170aa17f2607f13df610a9aeb6a5',
};

/** The release for a platform as Node names it; undefined where none is pinned. */
export function releaseFor(platform: string, arch: string): Release | undefined {
  const sha256 = RELEASE_SHA256[`${platform}-${arch}`];
  if (sha256 === undefined) return undefined;
  const folder = `https://github.com/gitleaks/gitleaks/releases/download/v${PINNED_VERSION}`;
  return { url: `${folder}/gitleaks_${PINNED_VERSION}_${platform}_${arch}.tar.gz`, sha256 };
}

/** The command that installs the gitleaks program, for messages. */
export function howToInstall(installRoot: string): string {
  return `Run ${join(installRoot, 'install.sh')} --gitleaks: it takes gitleaks from PATH, builds it with Go, or downloads it.`;
}
