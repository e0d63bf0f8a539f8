/** A program that manages toolchains: where it keeps them, and what of that is binaries and toolchains. */
export interface Manager {
  readonly name: string;
  /** The variable that names the manager's directory, if the manager has one. */
  readonly variable: string | null;
  /** The directory if no variable names it, relative to the home unless it is absolute; the first that exists counts. */
  readonly places: readonly string[];
  /** What to mount, relative to the directory. Never credentials, never settings that may hold them. */
  readonly mounts: readonly string[];
  /** Variables that programs need to find the directory, each relative to the directory. */
  readonly exports: Readonly<Record<string, string>>;
  /** The variables are set only if this exists in the directory. */
  readonly exportsNeed?: string;
  /** A manager whose programs are found through this one's. */
  readonly implies?: string;
  /** Directories that take the place of the manager's shims on PATH, relative to the directory; `*` is any name. */
  readonly instead?: { readonly of: string; readonly use: string };
}

/** rbenv and its relatives: shims that run what `versions` holds. */
function shimManager(name: string, variable: string, place: string): Manager {
  const mounts = ['bin', 'libexec', 'shims', 'versions', 'plugins', 'completions', `${name}.d`, 'version'];
  return { name, variable, places: [place], mounts, exports: { [variable]: '.' } };
}

/** A manager's directory is mounted if a directory on PATH, or a program in one, is in it. */
export const MANAGERS: readonly Manager[] = [
  // CARGO_HOME also holds credentials.toml, config.toml and the registry's cache, so it is not exported.
  { name: 'cargo', variable: 'CARGO_HOME', places: ['.cargo'], mounts: ['bin'], exports: {}, implies: 'rustup' },
  {
    name: 'rustup',
    variable: 'RUSTUP_HOME',
    places: ['.rustup'],
    mounts: ['toolchains', 'settings.toml', 'update-hashes'],
    exports: { RUSTUP_HOME: '.' },
  },
  {
    name: 'nvm',
    variable: 'NVM_DIR',
    places: ['.nvm', '.config/nvm'],
    mounts: ['versions', 'alias', 'nvm.sh', 'nvm-exec', 'bash_completion'],
    exports: { NVM_DIR: '.' },
  },
  {
    name: 'fnm',
    variable: 'FNM_DIR',
    places: ['.local/share/fnm', '.fnm'],
    mounts: ['node-versions', 'aliases'],
    exports: { FNM_DIR: '.' },
  },
  {
    name: 'volta',
    variable: 'VOLTA_HOME',
    places: ['.volta'],
    mounts: ['bin', 'tools', 'layout.v4'],
    exports: { VOLTA_HOME: '.' },
  },
  shimManager('pyenv', 'PYENV_ROOT', '.pyenv'),
  shimManager('rbenv', 'RBENV_ROOT', '.rbenv'),
  shimManager('nodenv', 'NODENV_ROOT', '.nodenv'),
  shimManager('goenv', 'GOENV_ROOT', '.goenv'),
  shimManager('jenv', 'JENV_ROOT', '.jenv'),
  shimManager('phpenv', 'PHPENV_ROOT', '.phpenv'),
  {
    name: 'sdkman',
    variable: 'SDKMAN_DIR',
    places: ['.sdkman'],
    mounts: ['candidates'],
    exports: { SDKMAN_DIR: '.', JAVA_HOME: 'candidates/java/current' },
  },
  {
    name: 'asdf',
    variable: 'ASDF_DATA_DIR',
    places: ['.asdf'],
    mounts: ['bin', 'shims', 'installs', 'plugins', 'lib', 'libexec', 'completions', 'asdf.sh', '../.tool-versions'],
    exports: { ASDF_DATA_DIR: '.' },
  },
  // Shims of mise read settings that may hold secrets. The programs themselves need none.
  {
    name: 'mise',
    variable: 'MISE_DATA_DIR',
    places: ['.local/share/mise'],
    mounts: ['installs', 'shims'],
    exports: { MISE_DATA_DIR: '.' },
    instead: { of: 'shims', use: 'installs/*/latest/bin' },
  },
  { name: 'bun', variable: 'BUN_INSTALL', places: ['.bun'], mounts: ['bin', 'install/global'], exports: {} },
  { name: 'deno', variable: 'DENO_INSTALL', places: ['.deno'], mounts: ['bin'], exports: {} },
  {
    name: 'homebrew',
    variable: 'HOMEBREW_PREFIX',
    places: ['/home/linuxbrew/.linuxbrew', '/opt/homebrew', '.linuxbrew'],
    mounts: [
      'bin',
      'sbin',
      'lib',
      'libexec',
      'opt',
      'Cellar',
      'include',
      'share',
      'etc/ca-certificates',
      'etc/openssl@3',
      'etc/fonts',
    ],
    exports: { HOMEBREW_PREFIX: '.' },
  },
  {
    name: 'conda',
    variable: null,
    places: [
      'miniconda3',
      'anaconda3',
      'miniforge3',
      'mambaforge',
      'micromamba',
      '.local/share/mamba',
      '/opt/conda',
      '/opt/miniconda3',
      '/opt/anaconda3',
      '/opt/miniforge3',
    ],
    mounts: [
      'bin',
      'condabin',
      'conda-meta',
      'envs',
      'lib',
      'libexec',
      'include',
      'share',
      'shell',
      'ssl',
      'compiler_compat',
      'x86_64-conda-linux-gnu',
      'aarch64-conda-linux-gnu',
      'etc/fonts',
      'pyvenv.cfg',
    ],
    exports: {},
  },
  // `credentials` in the same directory holds passwords of package indexes.
  {
    name: 'uv',
    variable: null,
    places: ['.local/share/uv'],
    mounts: ['python', 'tools'],
    exports: { UV_PYTHON_INSTALL_DIR: 'python' },
  },
  {
    name: 'pipx',
    variable: 'PIPX_HOME',
    places: ['.local/share/pipx', '.local/pipx'],
    mounts: ['venvs', 'shared', 'py'],
    exports: {},
  },
  // `pip install --user`. `share` and the rest of ~/.local belong to other programs.
  {
    name: 'user programs',
    variable: null,
    places: ['.local'],
    mounts: ['bin', 'lib'],
    exports: { PYTHONUSERBASE: '.' },
    exportsNeed: 'lib',
  },
  { name: 'go programs', variable: null, places: ['go'], mounts: ['bin'], exports: {} },
  {
    name: 'ghcup',
    variable: null,
    places: ['.ghcup'],
    mounts: ['bin', 'ghc', 'cabal', 'hls', 'stack'],
    exports: {},
  },
  {
    name: 'dotnet',
    variable: 'DOTNET_ROOT',
    places: ['.dotnet'],
    mounts: [
      'dotnet',
      'host',
      'shared',
      'sdk',
      'sdk-manifests',
      'packs',
      'templates',
      'library-packs',
      'metadata',
      'tools',
    ],
    exports: { DOTNET_ROOT: '.' },
  },
  {
    name: 'android',
    variable: 'ANDROID_HOME',
    places: [],
    mounts: [
      'platform-tools',
      'build-tools',
      'platforms',
      'cmdline-tools',
      'tools',
      'ndk',
      'ndk-bundle',
      'cmake',
      'licenses',
      'sources',
    ],
    exports: { ANDROID_HOME: '.' },
  },
  { name: 'nix', variable: null, places: ['/nix'], mounts: ['store'], exports: {} },
];

/** Variables that name the directory of one toolchain, which is mounted if it is outside /usr. */
export const HOME_VARIABLES = [
  'JAVA_HOME',
  'GOROOT',
  'M2_HOME',
  'MAVEN_HOME',
  'GRADLE_HOME',
  'KOTLIN_HOME',
  'SCALA_HOME',
  'ANT_HOME',
  'GROOVY_HOME',
] as const;
