/** How shells and other programs say that a program is not on PATH. Each captures its name in the first group. */
const MISSING = [
  // bash, also in a script: `deploy.sh: line 3: tsc: command not found`
  /^(?:\S+: )?(?:line \d+: )?([\w.+-]+): command not found$/,
  // dash, busybox, ksh
  /^(?:\S*sh): (?:\d+: )?([\w.+-]+): not found$/,
  /^\S+: (?:\d+: )([\w.+-]+): not found$/,
  /^(?:zsh:\d+|zsh): command not found: ([\w.+-]+)$/,
  /^(?:fish: )?Unknown command: ([\w.+-]+)$/,
  // env, timeout, nohup, xargs, nice, make and others that start a program by its name
  /^(?:\S*\/)?env: ['‘]?([\w.+-]+)['’]?: No such file or directory$/,
  /^(?:\S*\/)?(?:timeout|nohup|nice|setsid|stdbuf|ionice|chrt|taskset): failed to (?:run command|execute) ['‘]?([\w.+-]+)['’]?: No such file or directory$/,
  /^(?:xargs|exec|execvp|make(?:\[\d+\])?|watch|time|setsid|strace): ([\w.+-]+): No such file or directory$/,
  /^Error: spawn(?:Sync)? ([\w.+-]+) ENOENT$/,
  /^FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]+)'$/,
  /exec: "([\w.+-]+)": executable file not found in \$PATH$/,
  /^Can't exec "([\w.+-]+)": No such file or directory/,
  /No such file or directory - ([\w.+-]+)(?: \(Errno::ENOENT\))?$/,
];

/** git looks for `git-lfs` on PATH when it is asked for `git lfs`. */
const GIT = /^git: '([\w.+-]+)' is not a git command\./;
const CARGO = /^error: no such (?:sub)?command: `([\w.+-]+)`/;

/** The program that a line says is missing, or null. */
export function readMissingProgram(line: string): string | null {
  for (const pattern of MISSING) {
    const name = pattern.exec(line)?.[1];
    if (name !== undefined) return name;
  }
  const git = GIT.exec(line)?.[1];
  if (git !== undefined) return `git-${git}`;
  const cargo = CARGO.exec(line)?.[1];
  return cargo === undefined ? null : `cargo-${cargo}`;
}
