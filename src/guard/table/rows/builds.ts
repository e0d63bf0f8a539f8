import { type NameRow, rowsOf } from '../row.ts';

/** Settings that package managers and build tools read before any of their commands, `--version` included. */
const SET_ASIDE = rowsOf('set aside', [
  [['.npmrc'], 'npm', 'any npm command', 'https://docs.npmjs.com/cli/configuring-npm/npmrc'],
  [
    ['.pnpmfile.cjs', '.pnpmfile.mjs', 'pnpmfile.js', 'pnpmfile.cjs'],
    'pnpm',
    'any pnpm command',
    'https://pnpm.io/pnpmfile',
  ],
  [['pnpm-workspace.yaml'], 'pnpm', 'any pnpm command', 'https://pnpm.io/settings', 'keys of pnpm'],
  [['.yarnrc', '.yarnrc.yml'], 'Yarn', 'any yarn command', 'https://yarnpkg.com/configuration/yarnrc'],
  [['bunfig.toml', '.bunfig.toml'], 'Bun', 'any bun command', 'https://bun.com/docs/runtime/bunfig'],
  [
    ['gradle.properties'],
    'Gradle',
    'any gradle command, and opening the project',
    'https://docs.gradle.org/current/userguide/build_environment.html',
    'keys of Gradle',
  ],
  [
    ['.mvn/extensions.xml', '.mvn/jvm.config', '.mvn/maven.config', '.mvn/maven-user.properties', '.mvn/settings.xml'],
    'Maven',
    'any mvn command, and opening the project',
    'https://maven.apache.org/configure.html',
  ],
  [['.mavenrc'], 'Maven', 'any mvn command with this directory as HOME', 'https://maven.apache.org/configure.html'],
  [
    ['.sbtopts', '.jvmopts', '.sbtrc'],
    'sbt',
    'any sbt command, and opening the project',
    'https://www.scala-sbt.org/1.x/docs/Command-Line-Reference.html',
  ],
  [['.mill-jvm-opts', '.mill-opts'], 'Mill', 'any mill command', 'https://mill-build.org/mill/cli/flags.html'],
  [
    ['.lein-env', 'profiles.clj'],
    'Leiningen',
    'any lein command',
    'https://codeberg.org/leiningen/leiningen/src/branch/stable/doc/PROFILES.md',
  ],
  [
    ['.bazelrc', '.bazelrc.user', 'user.bazelrc', '*.bazelrc'],
    'Bazel',
    'any bazel command',
    'https://bazel.build/run/bazelrc',
  ],
  [
    ['.buckconfig', '.buckconfig.local', '.buckconfig.d', '.buckversion'],
    'Buck',
    'any buck command',
    'https://buck2.build/docs/concepts/buckconfig/',
  ],
  [
    ['.bundle/config'],
    'Bundler',
    'any bundle command',
    'https://bundler.io/man/bundle-config.1.html',
    'keys of Bundler',
  ],
  [['.bundle/plugin'], 'Bundler', 'any bundle command', 'https://bundler.io/guides/bundler_plugins.html'],
  [
    ['nuget.config', '.nuget'],
    'NuGet',
    'any dotnet command that restores, and opening the folder',
    'https://learn.microsoft.com/nuget/reference/nuget-config-file',
  ],
  [
    ['directory.build.rsp', 'msbuild.rsp'],
    'MSBuild',
    'any dotnet command that builds, and opening the folder',
    'https://learn.microsoft.com/visualstudio/msbuild/msbuild-response-files',
  ],
  [
    ['ansible.cfg', '.ansible.cfg'],
    'Ansible',
    'any ansible command',
    'https://docs.ansible.com/ansible/latest/reference_appendices/config.html',
  ],
  [
    ['.terraformrc', 'terraform.rc', '.tofurc'],
    'Terraform',
    'any terraform command with this directory as HOME',
    'https://developer.hashicorp.com/terraform/cli/config/config-file',
  ],
  [
    ['.gclient', '.gclient_entries'],
    'gclient',
    'any gclient command',
    'https://www.chromium.org/developers/how-tos/depottools/',
  ],
]);

/** What runs only with the project's own work, which a person starts by its name. */
const SETTINGS = rowsOf('settings', [
  [
    ['compose.override.yaml', 'compose.override.yml', 'docker-compose.override.yaml', 'docker-compose.override.yml'],
    'Docker Compose',
    'starting the services',
    'https://docs.docker.com/compose/how-tos/multiple-compose-files/merge/',
  ],
  [
    ['flake.nix', 'shell.nix', 'default.nix', 'devenv.nix', 'devenv.yaml', 'devenv.local.nix', 'devbox.json'],
    'Nix',
    'entering the directory, if its .envrc uses it',
    'https://github.com/nix-community/nix-direnv',
  ],
  [
    ['aqua.yaml', 'aqua.yml', '.aqua.yaml', '.aqua.yml'],
    'aqua',
    'any command that aqua installed',
    'https://aquaproj.github.io/docs/reference/config/',
  ],
  [
    ['directory.build.props', 'directory.build.targets', 'directory.packages.props'],
    'MSBuild',
    'opening the folder, and building',
    'https://learn.microsoft.com/visualstudio/msbuild/customize-by-directory',
  ],
  [
    ['cabal.project.local', 'cabal.project'],
    'Cabal',
    'opening a file, and building',
    'https://cabal.readthedocs.io/en/stable/cabal-project-description-file.html',
  ],
  [['vagrantfile'], 'Vagrant', 'any vagrant command', 'https://developer.hashicorp.com/vagrant/docs/vagrantfile'],
  [['lefthook.*', '.lefthook.*'], 'Lefthook', 'any git command with a hook', 'https://lefthook.dev/configuration/'],
  [
    ['.pre-commit-config.yaml', '.overcommit.yml', '.lintstagedrc', '.lintstagedrc.*'],
    'managers of hooks',
    'any git command with a hook',
    'https://pre-commit.com/',
  ],
  [
    ['.env', '.env.*'],
    'many programs',
    'starting the project',
    'https://docs.docker.com/compose/how-tos/environment-variables/variable-interpolation/',
  ],
  [['.pnp.cjs', '.pnp.loader.mjs'], 'Yarn', 'starting the project', 'https://yarnpkg.com/features/pnp'],
  [
    ['mcp.json'],
    'agents with servers',
    'starting the agent, if it reads it',
    'https://modelcontextprotocol.io/docs/develop/connect-local-servers',
  ],
]);

export const BUILDS: readonly NameRow[] = [...SET_ASIDE, ...SETTINGS];
