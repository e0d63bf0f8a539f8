/** git without anything of a person's or a repository's that could run a program. Only plumbing commands are used. */
export function gitCommand(args: readonly string[]): [string, ...string[]] {
  return ['git', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', ...args];
}

/** `dir`: the git directory, which is the store and never the person's. */
export function gitEnvironment(dir: string): Record<string, string> {
  return {
    PATH: '/usr/bin:/bin',
    HOME: '/nonexistent',
    GIT_DIR: dir,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
  };
}
