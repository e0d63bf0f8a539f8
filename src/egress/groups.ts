/** Hosts that one kind of client needs to read, by a short name. */
export interface HostGroup {
  /** One sentence for a person who decides. */
  readonly what: string;
  /** Patterns of rules. */
  readonly hosts: readonly string[];
}

/**
 * Hosts for reading only: hosts that exist to take uploads (`upload.pypi.org`, `uploads.github.com`, `crates.io` for
 * `cargo publish`, `www.nuget.org`) are in no group. A host that does both, such as that of npm, takes uploads only with
 * an account's token, which a sandbox does not have.
 */
export const HOST_GROUPS = {
  npm: {
    what: 'JavaScript packages for npm, pnpm, yarn and bun, from the npm registry.',
    hosts: ['registry.npmjs.org', 'registry.yarnpkg.com'],
  },
  node: { what: 'Node.js itself, and its headers for packages that compile.', hosts: ['nodejs.org'] },
  jsr: {
    what: 'JavaScript packages from JSR, and modules of deno.land.',
    hosts: ['jsr.io', 'npm.jsr.io', 'deno.land'],
  },
  pypi: { what: 'Python packages for pip, uv and poetry, from PyPI.', hosts: ['pypi.org', 'files.pythonhosted.org'] },
  conda: { what: 'Packages for conda and mamba.', hosts: ['conda.anaconda.org', 'repo.anaconda.com'] },
  crates: { what: 'Rust packages for cargo, from crates.io.', hosts: ['index.crates.io', 'static.crates.io'] },
  rust: { what: 'Rust toolchains for rustup.', hosts: ['static.rust-lang.org'] },
  go: {
    what: 'Go modules and toolchains, and the checksums that prove them.',
    hosts: ['proxy.golang.org', 'sum.golang.org', 'go.dev', 'dl.google.com'],
  },
  maven: {
    what: 'Java packages from Maven Central.',
    hosts: ['repo.maven.apache.org', 'repo1.maven.org'],
  },
  gradle: {
    what: 'Gradle itself and its plugins; add maven for the packages.',
    hosts: ['services.gradle.org', 'downloads.gradle.org', 'plugins.gradle.org', 'plugins-artifacts.gradle.org'],
  },
  rubygems: { what: 'Ruby packages for gem and bundler.', hosts: ['rubygems.org', 'index.rubygems.org'] },
  packagist: {
    what: 'The index of PHP packages for composer; the packages are mostly on github.',
    hosts: ['repo.packagist.org', 'packagist.org'],
  },
  nuget: { what: '.NET packages.', hosts: ['api.nuget.org'] },
  hex: { what: 'Erlang and Elixir packages.', hosts: ['repo.hex.pm', 'builds.hex.pm'] },
  github: {
    what: 'Repositories, archives, releases and the API of GitHub, by HTTPS.',
    hosts: [
      'github.com',
      'api.github.com',
      'codeload.github.com',
      'raw.githubusercontent.com',
      'objects.githubusercontent.com',
      'release-assets.githubusercontent.com',
      'media.githubusercontent.com',
    ],
  },
  gitlab: { what: 'Repositories and the API of gitlab.com, by HTTPS.', hosts: ['gitlab.com'] },
  bitbucket: { what: 'Repositories of Bitbucket, by HTTPS.', hosts: ['bitbucket.org', 'api.bitbucket.org'] },
  codeberg: { what: 'Repositories of Codeberg, by HTTPS.', hosts: ['codeberg.org'] },
  debian: {
    what: 'Packages of Debian for apt.',
    hosts: ['deb.debian.org', 'security.debian.org', 'ftp.debian.org', 'snapshot.debian.org'],
  },
  ubuntu: {
    what: 'Packages of Ubuntu for apt, country mirrors included.',
    hosts: ['archive.ubuntu.com', '*.archive.ubuntu.com', 'security.ubuntu.com', 'ports.ubuntu.com'],
  },
  alpine: { what: 'Packages of Alpine Linux for apk.', hosts: ['dl-cdn.alpinelinux.org'] },
  playwright: {
    what: 'Browsers for Playwright.',
    hosts: ['cdn.playwright.dev', 'playwright.download.prss.microsoft.com'],
  },
} as const satisfies Readonly<Record<string, HostGroup>>;

/** The group of this name; null if no group has it. */
export function hostGroup(name: string): HostGroup | null {
  return Object.hasOwn(HOST_GROUPS, name) ? HOST_GROUPS[name as keyof typeof HOST_GROUPS] : null;
}

/** True if some group names the host. */
export function isInGroup(host: string): boolean {
  return Object.values<HostGroup>(HOST_GROUPS).some(({ hosts }) => hosts.includes(host));
}
