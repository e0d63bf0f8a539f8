import { execFileSync } from 'node:child_process';
import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DenialFacts, findDenials, placesOf } from '#src/sandbox/denials/denials.js';

const WORKSPACE = '/home/ann/shop';

/** A git project with an agent's folder, a toolchain, and two paths that deny globs match. */
const FACTS: DenialFacts = {
  exitCode: 1,
  endedBy: 'exit',
  pipeStatus: [],
  stdout: Buffer.alloc(0),
  stderr: Buffer.alloc(0),
  cwd: WORKSPACE,
  workspace: WORKSPACE,
  seccomp: { inet: true, unix: true, debugger: false },
  writable: ['/tmp', '/dev/shm', '/home/sandbox', WORKSPACE, `${WORKSPACE}/.git`],
  readOnly: [
    '/usr',
    '/bin',
    '/lib',
    '/etc',
    '/dev',
    '/home/ann/.nvm',
    `${WORKSPACE}/.git/hooks`,
    `${WORKSPACE}/.git/config`,
    `${WORKSPACE}/.claude`,
    `${WORKSPACE}/.bashrc`,
  ],
  hidden: [`${WORKSPACE}/.env`, `${WORKSPACE}/private`],
  visible: ['/proc'],
  outside: ['/'],
  repositoryAbove: null,
  isRepositoryMounted: false,
  network: { missing: null },
  findOnHost: (program) => (program === 'go' ? '/opt/go/bin/go' : null),
  isAllowable: (directory) => !['/', '/srv', '/home', '/home/ann', '/home/ann/.cache'].includes(directory),
  hookScript: () => 'prepare',
  isAtRoot: (name) => name !== 'nonexist',
  fileMaxBytes: 3 * 1024 ** 3,
};

function claimsOf(stderr: string, change: Partial<DenialFacts> = {}): string[] {
  return findDenials({ ...FACTS, stderr: Buffer.from(stderr), ...change }).map((denial) =>
    `${denial.kind} ${denial.path ?? denial.host ?? ''}`.trim(),
  );
}

const NODE_FRAMES = '    at Object.openSync (node:fs:573:18)\n    at [eval]:1:15 {\n  errno: -30,\n';

/** What real programs printed in a sandbox with such mounts, and the denials that follow. */
const REAL: readonly (readonly [said: string, claim: string])[] = [
  ["touch: cannot touch '/usr/x': Read-only file system", 'read_only /usr/x'],
  ["touch: cannot touch '/usr/a b': Read-only file system", 'read_only /usr/a b'],
  ['bash: line 1: /usr/x: Read-only file system', 'read_only /usr/x'],
  ['bash: line 1: .git/hooks/post-checkout: Read-only file system', `read_only ${WORKSPACE}/.git/hooks/post-checkout`],
  ['sh: 1: cannot create /usr/x: Read-only file system', 'read_only /usr/x'],
  ['mkdir: cannot create directory ‘/foo’: Read-only file system', 'read_only /foo'],
  [
    "mv: inter-device move failed: 'a.txt' to '/etc/a.txt'; unable to remove target: Read-only file system",
    'read_only /etc/a.txt',
  ],
  ["rm: cannot remove '.git/config': Device or resource busy", `read_only ${WORKSPACE}/.git/config`],
  ["mv: cannot move '.claude' to 'c2': Device or resource busy", `read_only ${WORKSPACE}/.claude`],
  [
    'error: could not write config file .git/config: Device or resource busy\n' +
      "fatal: could not set 'remote.o.url' to 'https://example.com/x.git'",
    `read_only ${WORKSPACE}/.git/config`,
  ],
  ['tee: /usr/x: Read-only file system', 'read_only /usr/x'],
  ["dd: failed to open '/usr/x': Read-only file system", 'read_only /usr/x'],
  [
    "sed: couldn't open temporary file .claude/sedpE09bR: Read-only file system",
    `read_only ${WORKSPACE}/.claude/sedpE09bR`,
  ],
  ['tar (child): /usr/x.tgz: Cannot open: Read-only file system', 'read_only /usr/x.tgz'],
  ['sort: open failed: /usr/x: Read-only file system', 'read_only /usr/x'],
  [
    'mktemp: failed to create file via template ‘/usr/tmp.XXXXXXXXXX’: Read-only file system',
    'read_only /usr/tmp.XXXXXXXXXX',
  ],
  ['Saving key "/usr/k" failed: Read-only file system', 'read_only /usr/k'],
  ["OSError: [Errno 30] Read-only file system: '/usr/x'", 'read_only /usr/x'],
  ["E   OSError: [Errno 30] Read-only file system: '/usr/x'", 'read_only /usr/x'],
  ["Error: [Errno 30] Read-only file system: '/usr/v'", 'read_only /usr/v'],
  [
    "ERROR: Could not install packages due to an OSError: [Errno 30] Read-only file system: '/usr/lib/python3'",
    'read_only /usr/lib/python3',
  ],
  [`Error: EROFS: read-only file system, open '/usr/x'\n${NODE_FRAMES}`, 'read_only /usr/x'],
  ["Error: EROFS: read-only file system, copyfile 'a.txt' -> '/usr/y'", 'read_only /usr/y'],
  ["    EROFS: read-only file system, mkdir '/home/ann/.nvm/x'", 'read_only /home/ann/.nvm/x'],
  ['cannot write /usr/x: Read-only file system at -e line 1.', 'read_only /usr/x'],
  ['/usr/bin/ld: cannot open output file /usr/m: Read-only file system', 'read_only /usr/m'],
  ['open /usr/x: read-only file system', 'read_only /usr/x'],
  ['panic: mkdir /usr/x: read-only file system', 'read_only /usr/x'],
  [
    'error: failed to create package `x` at `/usr/x`\n\nCaused by:\n  failed to create directory `/usr/x`\n\n' +
      'Caused by:\n  Read-only file system (os error 30)',
    'read_only /usr/x',
  ],
  ['fatal: cannot mkdir /usr/r: Read-only file system', 'read_only /usr/r'],
  ["fatal: could not create work tree dir '/usr/share/r': Read-only file system", 'read_only /usr/share/r'],
  ['/usr/g: Read-only file system', 'read_only /usr/g'],

  ['cat: /root/.ssh/id_rsa: No such file or directory', 'absent /root/.ssh/id_rsa'],
  ["cat: '/srv/a b': No such file or directory", 'absent /srv/a b'],
  ['cat: "/srv/it\'s": No such file or directory', "absent /srv/it's"],
  ["ls: cannot access '/var/log': No such file or directory", 'absent /var/log'],
  ["head: cannot open '/srv/a' for reading: No such file or directory", 'absent /srv/a'],
  ['find: ‘/root’: No such file or directory', 'absent /root'],
  ['bash: line 1: cd: /root: No such file or directory', 'absent /root'],
  ['bash: ./run.sh: /opt/python: bad interpreter: No such file or directory', 'absent /opt/python'],
  ['sh: 1: /opt/tool/x: not found', 'absent /opt/tool/x'],
  ['env: ‘/opt/x’: No such file or directory', 'absent /opt/x'],
  ['awk: cannot open /srv/x (No such file or directory)', 'absent /srv/x'],
  ['Exception in thread "main" java.io.FileNotFoundException: /srv/x (No such file or directory)', 'absent /srv/x'],
  ["python3: can't open file '/srv/x.py': [Errno 2] No such file or directory", 'absent /srv/x.py'],
  ["FileNotFoundError: [Errno 2] No such file or directory: '/srv/x'", 'absent /srv/x'],
  ['FileNotFoundError: [Errno 2] No such file or directory: "/srv/it\'s"', "absent /srv/it's"],
  ["Error: ENOENT: no such file or directory, open '/srv/x'", 'absent /srv/x'],
  [
    "npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/srv/package.json'",
    'absent /srv/package.json',
  ],
  ["Error: Cannot find module '/srv/lib.js'\nRequire stack:\n- /home/ann/shop/[eval]", 'absent /srv/lib.js'],
  [
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/srv/x.mjs' imported from /home/ann/shop/[eval]",
    'absent /srv/x.mjs',
  ],
  ['Error: spawn /srv/x ENOENT', 'absent /srv/x'],
  ['Can\'t open perl script "/srv/x.pl": No such file or directory', 'absent /srv/x.pl'],
  ['cc1: fatal error: /srv/m.c: No such file or directory', 'absent /srv/m.c'],
  ['/tmp/m.c:1:10: fatal error: /srv/x.h: No such file or directory', 'absent /srv/x.h'],
  ['make: *** /srv: No such file or directory.  Stop.', 'absent /srv'],
  ["make: *** No rule to make target '/srv/x', needed by 'all'.  Stop.", 'absent /srv/x'],
  ["fatal: repository '/srv/repo.git' does not exist", 'absent /srv/repo.git'],
  ["fatal: cannot change to '/srv': No such file or directory", 'absent /srv'],
  ['panic: open /srv/x: no such file or directory', 'absent /srv/x'],
  ['error: manifest path `/srv/Cargo.toml` does not exist', 'absent /srv/Cargo.toml'],

  ['cat: .env: Permission denied', `hidden ${WORKSPACE}/.env`],
  ['bash: line 1: .env: Permission denied', `hidden ${WORKSPACE}/.env`],
  ["rm: cannot remove '.env': Device or resource busy", `hidden ${WORKSPACE}/.env`],
  ["touch: cannot touch 'private/x': Read-only file system", `hidden ${WORKSPACE}/private/x`],
  [`cat: ${WORKSPACE}/private/key: No such file or directory`, `hidden ${WORKSPACE}/private/key`],
  ["PermissionError: [Errno 13] Permission denied: '.env'", `hidden ${WORKSPACE}/.env`],
  ["Error: EACCES: permission denied, scandir 'private'", `hidden ${WORKSPACE}/private`],

  ['curl: (6) Could not resolve host: example.com', 'network example.com'],
  ['  0     0    0     0    0 --:--:--     0curl: (6) Could not resolve host: example.com', 'network example.com'],
  ["curl: (7) Failed to connect to 1.1.1.1 port 80 after 0 ms: Couldn't connect to server", 'network 1.1.1.1'],
  ["curl: (7) Failed to connect to 2001:db8::1 port 80 after 0 ms: Couldn't connect to server", 'network 2001:db8::1'],
  ["fatal: unable to access 'https://github.com/x/y.git/': Could not resolve host: github.com", 'network github.com'],
  ['fatal: unable to look up example.com (port 9418) (Name or service not known)', 'network example.com'],
  ['ssh: Could not resolve hostname github.com: Name or service not known', 'network github.com'],
  ['ssh: connect to host 10.0.0.1 port 22: Network is unreachable', 'network 10.0.0.1'],
  ['wget: unable to resolve host address ‘example.com’', 'network example.com'],
  ['Connecting to 1.1.1.1:80... failed: Network is unreachable.', 'network 1.1.1.1'],
  [
    'bash: connect: Network is unreachable\nbash: line 1: /dev/tcp/1.1.1.1/80: Network is unreachable',
    'network 1.1.1.1',
  ],
  ['bash: line 1: example.com: Name or service not known', 'network example.com'],
  ['ping: example.com: Temporary failure in name resolution', 'network example.com'],
  ['socket.gaierror: [Errno -2] Name or service not known', 'network'],
  ['OSError: [Errno 101] Network is unreachable', 'network'],
  ['urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>', 'network'],
  [
    "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<HTTPSConnection object>: " +
      "Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/six/",
    'network',
  ],
  [
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.com', port=443): Max retries exceeded with " +
      'url: / (Caused by NameResolutionError("Failed to resolve \'example.com\' ([Errno -2] Name or service not known)"))',
    'network example.com',
  ],
  ['Error: getaddrinfo ENOTFOUND example.com', 'network example.com'],
  ['  [cause]: Error: getaddrinfo EAI_AGAIN example.com', 'network example.com'],
  ['Error: connect ENETUNREACH 1.1.1.1:80 - Local (0.0.0.0:0)', 'network 1.1.1.1'],
  ['Error: connect ENETUNREACH 2001:db8::1:80 - Local (:::0)', 'network 2001:db8::1'],
  ['Error: queryA ECONNREFUSED example.com', 'network example.com'],
  [
    'npm error network request to https://registry.example.com/x failed, reason: getaddrinfo ENOTFOUND registry.example.com',
    'network registry.example.com',
  ],
  [
    'go: example.com/y@latest: Get "https://proxy.example.com/y": dial tcp: lookup proxy.example.com: no such host',
    'network proxy.example.com',
  ],
  ['Get "http://1.1.1.1/": dial tcp 1.1.1.1:80: connect: network is unreachable', 'network 1.1.1.1'],
  [
    'warning: spurious network error (3 tries remaining): [6] Could not resolve hostname (Could not resolve host: index.crates.io)',
    'network index.crates.io',
  ],
  ["Could not connect to 'example.com:80': Name or service not known", 'network example.com'],
  ['connect: Network is unreachable at -e line 1.', 'network'],

  ['strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted', 'seccomp'],
  ['strace: attach: ptrace(PTRACE_ATTACH, 3): Operation not permitted', 'seccomp'],
  ['warning: ptrace: Operation not permitted', 'seccomp'],
  ['ptrace: Operation not permitted.', 'seccomp'],
  ['unshare: unshare failed: Operation not permitted', 'seccomp'],
  ["nsenter: reassociate to namespace 'ns/user' failed: Operation not permitted", 'seccomp'],
  ["/usr/sbin/chroot: cannot change root directory to '/usr': Operation not permitted", 'seccomp'],
  ['unshare: Operation not permitted at -e line 1.', 'seccomp'],
  ["chmod: changing permissions of './t': Operation not permitted", `seccomp ${WORKSPACE}/t`],
  ["install: cannot change permissions of 'bin/t': Operation not permitted", `seccomp ${WORKSPACE}/bin/t`],
  ["cp: preserving permissions for 't': Operation not permitted", `seccomp ${WORKSPACE}/t`],
  ['tar: t: Cannot change mode to rwsr-xr-x: Operation not permitted', `seccomp ${WORKSPACE}/t`],
  ["Error: EPERM: operation not permitted, chmod '/tmp/t'", 'seccomp /tmp/t'],
];

/** The same messages if the sandbox had no part in it, or if that cannot be known. */
const NOT_KNOWN: readonly (readonly [why: string, said: string])[] = [
  ['a mode of a file of the system', "chmod: changing permissions of '/usr/bin/x': Operation not permitted"],
  ['a writable path', "touch: cannot touch '/home/ann/shop/x': Read-only file system"],
  ['a writable path by a detour', "touch: cannot touch '/usr/../home/ann/shop/x': Read-only file system"],
  ['a file that the project lacks', 'cat: /home/ann/shop/missing: No such file or directory'],
  ['a file that /tmp lacks', 'cc1: fatal error: /tmp/m.c: No such file or directory'],
  ['a file that /usr lacks', 'cat: /usr/missing: No such file or directory'],
  ['a process that is gone', 'cat: /proc/77/status: No such file or directory'],
  ['an own directory above the project', 'cat: /home/ann: No such file or directory'],
  ['relative: whatever directory that was', 'cat: ../other/file: No such file or directory'],
  ['relative below a hidden name: the same', 'cat: private/key: No such file or directory'],
  ['a permission of the project', 'bash: line 1: ./build.sh: Permission denied'],
  ['a permission of the system', "truncate: cannot open '/usr/bin/true' for writing: Permission denied"],
  ['busy for another reason', "rm: cannot remove 'mnt': Device or resource busy"],
  ['busy below a read-only mount, not the mount', "rm: cannot remove '.claude/x': Device or resource busy"],
  ['no path at all', 'Read-only file system at -e line 1.'],
  ['a program that is not installed', 'bash: line 1: tsc: command not found'],
  ['a name the shell had to escape', "cat: '/srv/'$'\\303\\274': No such file or directory"],
  ['an unquoted path with blanks', 'prog: cannot copy /srv/a and more: No such file or directory'],
  ['a log line with its time', '2026-01-02 03:04:05 cp: cannot stat /srv/x: No such file or directory'],
  ['a log line of Go', '2026/01/02 03:04:05 open /srv/x: no such file or directory'],
  ['a log line of syslog', 'Jan  2 03:04:05 host app[7]: /srv/x: No such file or directory'],
  ['a log line with a level', "ERROR:root:[Errno 2] No such file or directory: '/srv/x'"],
  ['a log line with a level in brackets', '[error] open() "/srv/x" failed (2: No such file or directory)'],
  ['structured logs', 'level=error msg="open /srv/x: no such file or directory"'],
  ['JSON', '{"message":"ENOENT: no such file or directory, open \'/srv/x\'"}'],
  ['a search in a log', 'app.log:12:cat: /srv/x: No such file or directory'],
  ['a difference', '+cat: /srv/x: No such file or directory'],
  ['a quotation', '> cat: /srv/x: No such file or directory'],
  ['a comment', '# touch: cannot touch /usr/x: Read-only file system'],
  ['a source line', '    "touch: /usr/x: Read-only file system",'],
  ['a sentence', 'The file /usr/x could not be written: Read-only file system is the usual reason'],
  ['a refused connection to the sandbox itself', 'bash: line 1: /dev/tcp/127.0.0.1/1: Connection refused'],
  ['the same of curl', "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server"],
  ['the same by name', "curl: (7) Failed to connect to localhost port 1 after 0 ms: Couldn't connect to server"],
  ['the same of Node', 'Error: connect ECONNREFUSED 127.0.0.1:1'],
  ['the same of Python', 'ConnectionRefusedError: [Errno 111] Connection refused'],
  ['a name that never resolves', 'Error: getaddrinfo ENOTFOUND no-such-host.invalid'],
  ['an HTTP status', 'curl: (22) The requested URL returned error: 404'],
  ['a log line about a name', '2026-01-02T03:04:05Z getaddrinfo ENOTFOUND example.com'],
  ['a refused call that nothing names', 'prog: Operation not permitted'],
  ['a file called like a call', "rm: cannot remove '/tmp/mount': Operation not permitted"],
  ['a change of owner', "chown: changing ownership of 'a.txt': Operation not permitted"],
];

/** What programs print if `go` is not on PATH. */
const MISSING = [
  'bash: line 1: go: command not found',
  'bash: go: command not found',
  './build.sh: line 12: go: command not found',
  'sh: 1: go: not found',
  '/bin/sh: 1: go: not found',
  './build.sh: 3: go: not found',
  'sh: go: not found',
  'zsh:1: command not found: go',
  'fish: Unknown command: go',
  "/usr/bin/env: 'go': No such file or directory",
  'env: ‘go’: No such file or directory',
  "timeout: failed to run command 'go': No such file or directory",
  'xargs: go: No such file or directory',
  'make: go: No such file or directory',
  'make[2]: go: No such file or directory',
  'Error: spawn go ENOENT',
  "FileNotFoundError: [Errno 2] No such file or directory: 'go'",
  'fork/exec: exec: "go": executable file not found in $PATH',
  'Can\'t exec "go": No such file or directory at x.pl line 1.',
];

describe('a program that is missing inside', () => {
  test.each(MISSING)('is named with its place on the host: %s', (said) => {
    expect(claimsOf(`${said}\n`, { exitCode: 127 })).toEqual(['program /opt/go/bin/go']);
  });

  test('is said to be allowed by a person, also if a later command succeeded', () => {
    const [denial] = findDenials({ ...FACTS, exitCode: 0, stderr: Buffer.from('bash: go: command not found\n') });
    expect(denial?.how_to_allow).toBe('A person can run `ctxd allow toolchains`, which offers /opt/go/bin.');
  });

  test.each(['bash: line 1: ctxd: command not found', 'bash: line 1: /opt/ctx/bin/ctxd: No such file or directory'])(
    'ctxd is for a person on the host, and nothing offers to let commands have it: %s',
    (said) => {
      const [denial] = findDenials({ ...FACTS, exitCode: 127, stderr: Buffer.from(`${said}\n`) });
      expect(denial).toMatchObject({ kind: 'program', how_to_allow: 'A person can run the command on the host.' });
    },
  );

  test('is not reported if the host does not have it either', () => {
    expect(claimsOf('bash: line 1: no-such-program: command not found\n', { exitCode: 127 })).toEqual([]);
  });
});

/** The advice for a file: a directory with a name that the person chooses. */
const OTHER = (parent: string, file: string) => {
  const directory = posix.join(parent, 'DIRECTORY');
  return `A person can allow another directory: \`ctxd allow path ${directory}\`. Then use ${directory}/${file}.`;
};

describe('a write outside the workspace', () => {
  test.each([
    ['bash: line 1: ../out.txt: Read-only file system', '/home/ann/out.txt', OTHER('/home/ann', 'out.txt')],
    ['bash: line 1: ../file2: Read-only file system', '/home/ann/file2', OTHER('/home/ann', 'file2')],
    [
      'bash: line 1: ../my notes: Read-only file system',
      '/home/ann/my notes',
      'Then use "/home/ann/DIRECTORY/my notes".',
    ],
    ['./mkdir: line 1: ../a: Read-only file system', '/home/ann/a', OTHER('/home/ann', 'a')],
    [
      "cp: cannot create regular file '../directory': Read-only file system",
      '/home/ann/directory',
      OTHER('/home/ann', 'directory'),
    ],
    [
      "mkdir: cannot create directory '../wt': Read-only file system",
      '/home/ann/wt',
      '`ctxd allow path /home/ann/wt`.',
    ],
    [
      "mkdir: cannot create directory '../.cache': Read-only file system",
      '/home/ann/.cache',
      OTHER('/home/ann', '.cache'),
    ],
    [
      "mkdir: cannot create directory '../a b': Read-only file system",
      '/home/ann/a b',
      "`ctxd allow path '/home/ann/a b'`.",
    ],
    [
      'mkdir: cannot create directory "../it\'s": Read-only file system',
      "/home/ann/it's",
      "`ctxd allow path '/home/ann/it'\\''s'`.",
    ],
    ["cp: cannot create directory '../b': Read-only file system", '/home/ann/b', '`ctxd allow path /home/ann/b`.'],
    [
      "fatal: could not create work tree dir '../x': Read-only file system",
      '/home/ann/x',
      '`ctxd allow path /home/ann/x`.',
    ],
    [
      "fatal: could not create leading directories of '../wt/.git': Read-only file system",
      '/home/ann/wt/.git',
      '`ctxd allow path /home/ann/wt`.',
    ],
    ['go: mkdir ../mod: read-only file system', '/home/ann/mod', '`ctxd allow path /home/ann/mod`.'],
    ["Error: EROFS: read-only file system, mkdir '/home/ann/js'", '/home/ann/js', '`ctxd allow path /home/ann/js`.'],
    ["Error: EROFS: read-only file system, open '/home/ann/js'", '/home/ann/js', OTHER('/home/ann', 'js')],
    [
      'error: failed to create directory `/home/ann/rs`\n\nCaused by:\n  Read-only file system (os error 30)',
      '/home/ann/rs',
      '`ctxd allow path /home/ann/rs`.',
    ],
    ['touch: /srv/data/x: Read-only file system', '/srv/data/x', '`ctxd allow path /srv/data`.'],
    ['touch: /x: Read-only file system', '/x', OTHER('/', 'x')],
  ])('names the command that allows it: %s', (said, path, command) => {
    const [denial] = findDenials({ ...FACTS, stderr: Buffer.from(said) });
    expect(denial).toMatchObject({ kind: 'read_only', path, how_to_allow: expect.stringContaining(command) });
  });

  test('is not said to be possible where a person cannot allow any directory', () => {
    const [denial] = findDenials({
      ...FACTS,
      stderr: Buffer.from('touch: /data/x: Read-only file system'),
      isAllowable: () => false,
    });
    expect(denial?.how_to_allow).toBe('Write below the workspace, /tmp or $HOME. A person can do it outside contextd.');
  });

  test('is not said to be possible in a directory of the system', () => {
    const [denial] = findDenials({ ...FACTS, stderr: Buffer.from('touch: /etc/x: Read-only file system') });
    expect(denial?.how_to_allow).not.toContain('ctxd allow');
  });
});

describe('issue 30.2.6 a file that would be larger than a command may write', () => {
  const limit = {
    kind: 'file_size',
    rule: 'a file that a command writes may have 3072 MiB (sandbox.file_max_mb)',
    how_to_allow: expect.stringContaining('`ctxd config set sandbox.file_max_mb MEBIBYTES`'),
  };
  test.each([
    ['a signal that ended the command', { exitCode: 153, endedBy: 'signal' }],
    ['a signal that ended the last program of a script', { exitCode: 153 }],
    ['issue 30.3: a signal that ended a part of a pipeline', { exitCode: 0, pipeStatus: [153, 0] }],
    ['bash', { exitCode: 0, said: 'bash: line 1:     7 File size limit exceeded(core dumped) dd if=/dev/zero of=big' }],
    ['bash, without a blank', { exitCode: 0, said: 'bash: line 1:     5 File size limit exceededdd if=/dev/zero' }],
    ['dash', { said: 'File size limit exceeded' }],
    ['a program that goes on', { said: "dd: error writing 'big': File too large" }],
    ['Python', { said: 'OSError: [Errno 27] File too large' }],
    ['Node', { said: 'Error: EFBIG: file too large, write' }],
    ['Go', { exitCode: 0, said: 'write big: file too large' }],
  ] as const)('is explained: %s', (_who, { said = '', ...end }: { said?: string } & Partial<DenialFacts>) => {
    expect(findDenials({ ...FACTS, ...end, stderr: Buffer.from(said) })).toEqual([limit]);
  });

  test.each([
    'HTTP 413: the file is too large',
    'upload failed: File too large (max 10 MB)',
    'x.js:1:2: File too large',
  ])('is not read into: %s', (said) => expect(findDenials({ ...FACTS, stderr: Buffer.from(said) })).toEqual([]));
});

describe('SEC-2.3 what a program prints about the sandbox', () => {
  test.each(REAL)('is recognised: %s', (said, claim) => {
    expect(claimsOf(`${said}\n`)).toEqual([claim]);
  });

  test.each(NOT_KNOWN)('is not mistaken for a refusal: %s', (_why, said) => {
    expect(claimsOf(`${said}\n`)).toEqual([]);
  });

  test('a denial names the rule and what a person can do', () => {
    const [hook, usr, toolchain, absent, hidden, network] = [
      'bash: .git/hooks/x: Read-only file system',
      'bash: /usr/x: Read-only file system',
      'bash: /home/ann/.nvm/x: Read-only file system',
      'bash: /srv/x: No such file or directory',
      'bash: .env: Permission denied',
      'curl: (6) Could not resolve host: example.com',
    ].map((said) => findDenials({ ...FACTS, stderr: Buffer.from(said) })[0]);
    expect(hook).toEqual({
      kind: 'read_only',
      path: `${WORKSPACE}/.git/hooks/x`,
      rule: "the repository's hooks are read-only for tools",
      how_to_allow: expect.stringContaining('`npm run prepare`'),
    });
    expect(usr?.how_to_allow).toContain('below the workspace, /tmp or $HOME');
    expect(toolchain?.rule).toContain('sandbox.ro_paths');
    expect(absent?.how_to_allow).toContain('sandbox.ro_paths');
    expect(hidden?.rule).toContain('sandbox.deny');
    expect(network).toEqual({
      kind: 'network',
      host: 'example.com',
      rule: 'this command has no network',
      how_to_allow: 'A person can do it outside contextd.',
    });
  });

  test('of hooks names a script of npm only if the package has one, whatever the directory of the hooks', () => {
    const readOnly = [...FACTS.readOnly, `${WORKSPACE}/.husky/_`, `${WORKSPACE}/.githooks`, `${WORKSPACE}/hooks.json`];
    const denied = (path: string, script: string | null) =>
      findDenials({
        ...FACTS,
        readOnly,
        hookScript: () => script,
        stderr: Buffer.from(`sh: ${WORKSPACE}/${path}: Read-only file system`),
      })[0];
    for (const path of ['.git/hooks/pre-commit', '.husky/_/pre-commit', '.githooks/pre-push']) {
      expect(denied(path, 'postinstall')?.how_to_allow).toContain('`npm run postinstall`');
      expect(denied(path, null)?.how_to_allow).not.toContain('npm');
      expect(denied(path, null)?.how_to_allow).toContain('A person can write hooks outside contextd');
    }
    expect(denied('hooks.json', 'prepare')?.rule).not.toContain('hooks');
  });

  test('of a command with a network, only an address that it dialled is read from its output', () => {
    const byName = { network: 'by name' } as const;
    expect(claimsOf('curl: (6) Could not resolve host: example.com', byName)).toEqual([]);
    const dialled = 'curl: (7) Failed to connect to 192.0.2.1 port 80 after 0 ms: Network is unreachable';
    expect(claimsOf(dialled, byName)).toEqual(['network 192.0.2.1']);
  });

  test('a network that a person switched off is switched on by the remedy', () => {
    const stderr = Buffer.from('curl: (6) Could not resolve host: example.com');
    const [denial] = findDenials({ ...FACTS, stderr, network: 'off' });
    expect(denial).toMatchObject({ host: 'example.com', how_to_allow: 'A person can switch it on: ctxd network on' });
  });

  test('a path below a name that the host does not have either is no denial', () => {
    expect(claimsOf("ls: cannot access '/nonexist/a': No such file or directory")).toEqual([]);
    expect(claimsOf("ls: cannot access '/srv/nonexist': No such file or directory")).toEqual(['absent /srv/nonexist']);
  });

  test('a machine that gives commands no network is named as the reason', () => {
    const stderr = Buffer.from('curl: (6) Could not resolve host: example.com');
    const [denial] = findDenials({ ...FACTS, stderr, network: { missing: 'nsenter was refused' } });
    expect(denial).toMatchObject({ host: 'example.com', rule: 'there is no network: nsenter was refused' });
    expect(denial?.how_to_allow).toContain('ctxd doctor');
  });

  test('a command that the filter killed is reported, whatever it printed', () => {
    expect(claimsOf('', { endedBy: 'seccomp', exitCode: 159 })).toEqual(['seccomp']);
  });

  test('the filter of a debugger may trace, and a machine without a filter refuses nothing', () => {
    const said = 'strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted';
    expect(claimsOf(said, { seccomp: { inet: true, unix: true, debugger: true } })).toEqual([]);
    expect(claimsOf(said, { seccomp: null })).toEqual([]);
  });
});

describe('SEC-2.3 which output is read', () => {
  const READ_ONLY = 'touch: /usr/x: Read-only file system\n';
  const ABSENT = 'cat: /srv/x: No such file or directory\n';

  test('both streams of a command that failed', () => {
    expect(claimsOf(READ_ONLY, { stdout: Buffer.from(ABSENT) })).toEqual(['read_only /usr/x', 'absent /srv/x']);
    expect(claimsOf(ABSENT, { exitCode: null, endedBy: 'timeout' })).toEqual(['absent /srv/x']);
  });

  test('of a command that succeeded, only what stderr says about read-only paths', () => {
    const succeeded = { exitCode: 0, stdout: Buffer.from('touch: /usr/y: Read-only file system\n') };
    expect(claimsOf(`${READ_ONLY}${ABSENT}curl: (6) Could not resolve host: example.com\n`, succeeded)).toEqual([
      'read_only /usr/x',
    ]);
  });

  test('only the end of a long stream, and at most ten denials, three of a rule', () => {
    const early = `${READ_ONLY}${'x\n'.repeat(40_000)}`;
    expect(claimsOf(`${early}${ABSENT}`)).toEqual(['absent /srv/x']);
    const many = Array.from({ length: 50 }, (_, i) => `cat: /srv/${i}: No such file or directory\n`).join('');
    expect(claimsOf(many)).toEqual(['absent /srv/0', 'absent /srv/1', 'absent /srv/2']);
    const calls = 'unshare setns mount chroot bpf keyctl add_key reboot acct kcmp ptrace userfaultfd'.split(' ');
    expect(claimsOf(calls.map((call) => `prog: ${call}: Operation not permitted\n`).join(''))).toHaveLength(10);
  });

  test('a denial that names a host replaces the ones without a host', () => {
    const said = 'OSError: [Errno 101] Network is unreachable\ncurl: (6) Could not resolve host: example.com\n';
    expect(claimsOf(said)).toEqual(['network example.com']);
  });
});

test('SEC-2.3 the last mount at a path decides about the places of a planned tree, and a remounted one belongs to the host', () => {
  const places = placesOf(
    [
      { kind: 'ro-bind', source: '/usr', dest: '/usr' },
      { kind: 'symlink', target: 'usr/bin', dest: '/bin' },
      { kind: 'proc', dest: '/proc' },
      { kind: 'dev', dest: '/dev' },
      { kind: 'tmpfs', dest: '/dev/shm', sizeBytes: 1 },
      { kind: 'dir', dest: '/run' },
      { kind: 'bind', source: '/w', dest: '/w' },
      { kind: 'bind', source: '/w/.git', dest: '/w/.git' },
      { kind: 'ro-bind', source: '/w/.git/hooks', dest: '/w/.git/hooks' },
      { kind: 'tmpfs', dest: '/w/private', sizeBytes: 1 },
      { kind: 'remount-ro', dest: '/w/private' },
      { kind: 'remount-ro', dest: '/dev' },
      { kind: 'remount-ro', dest: '/' },
    ],
    ['/w/private'],
  );
  expect(places).toEqual({
    writable: ['/dev/shm', '/w', '/w/.git'],
    readOnly: ['/usr', '/bin', '/dev', '/w/.git/hooks'],
    visible: ['/proc'],
    outside: ['/'],
    hidden: ['/w/private'],
  });
});

test('SEC-2.3 no denial ever names a path that the most specific mount makes writable', () => {
  const segment = fc.constantFrom(
    'usr',
    'home',
    'ann',
    'shop',
    '.git',
    'hooks',
    'config',
    'tmp',
    '..',
    '.',
    'a',
    '.env',
    'x y',
  );
  const path = fc
    .tuple(fc.constantFrom('/', '', './', '../', `${WORKSPACE}/`), fc.array(segment, { maxLength: 6 }))
    .map(([start, segments]) => `${start}${segments.join('/')}`);
  const words = fc.constantFrom(
    'Read-only file system',
    'No such file or directory',
    'Permission denied',
    'Device or resource busy',
  );
  const frames: ((path: string, said: string) => string)[] = [
    (at, said) => `bash: line 1: ${at}: ${said}`,
    (at, said) => `cp: cannot create '${at}': ${said}`,
    (at, said) => `OSError: [Errno 30] ${said}: '${at}'`,
    (at, said) => `Error: EROFS: ${said.toLowerCase()}, open '${at}'`,
    (at, said) => `Caused by:\n  failed to write \`${at}\`\n\nCaused by:\n  ${said} (os error 30)`,
  ];
  const writable = (at: string): boolean => {
    const roots = [...FACTS.writable, ...FACTS.readOnly, ...FACTS.hidden].filter(
      (root) => root === '/' || at === root || at.startsWith(`${root}/`),
    );
    return FACTS.writable.includes(roots.sort((a, b) => b.length - a.length)[0] ?? '/');
  };
  fc.assert(
    fc.property(path, words, fc.constantFrom(...frames), fc.boolean(), (at, said, frame, failed) => {
      const facts = { ...FACTS, stderr: Buffer.from(frame(at, said)), exitCode: failed ? 1 : 0 };
      for (const denial of findDenials(facts)) {
        expect(denial.path).toBe(posix.normalize(denial.path ?? ''));
        expect(writable(denial.path ?? '')).toBe(false);
      }
    }),
  );
});

test('SEC-2.3 arbitrary bytes do no harm', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
      expect(findDenials({ ...FACTS, stderr: Buffer.from(bytes), stdout: Buffer.from(bytes) })).toEqual([]);
    }),
  );
});

test('git in a part of a repository hears of the repository above', () => {
  const stderr = 'fatal: not a git repository (or any of the parent directories): .git\n';
  expect(claimsOf(stderr)).toEqual([]);
  expect(claimsOf(stderr, { repositoryAbove: '/home/ann' })).toEqual(['absent /home/ann/.git']);
  expect(claimsOf(stderr, { repositoryAbove: '/home/ann', isRepositoryMounted: true })).toEqual([]);
});

test('a path in a line that a person may paste into a shell is one word of the shell', () => {
  const hints = (path: string, facts: Partial<DenialFacts> = {}) =>
    findDenials({
      ...FACTS,
      stderr: Buffer.from(`touch: cannot touch '${path}': Read-only file system\n`),
      ...facts,
    }).map(({ how_to_allow }) => how_to_allow);
  expect(hints('/srv/shop/plain/file')).toEqual([expect.stringContaining('`ctxd allow path /srv/shop/plain`')]);
  const words = (line: string) =>
    execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' }).split('\0');
  for (const name of ['a b', '$(id)', 'a;id', 'a|id', 'a&id', 'a>b', '*', '~x', '#x', '"', 'é', '!1']) {
    const [hint = ''] = hints(`/srv/${name}/d/file`);
    const pasted = /`ctxd allow path (.*)`\./.exec(hint)?.[1] ?? '';
    expect(words(pasted), name).toEqual([`/srv/${name}/d`, '']);
  }
  for (const name of ['`id`', 'a\u202eb', 'a\u200bb'])
    expect(hints(`/srv/${name}/d/file`), name).toEqual([expect.stringContaining('`ctxd allow path DIRECTORY`')]);
  const above = { repositoryAbove: '/home/ann/$(id)' };
  const [line] = findDenials({ ...FACTS, stderr: Buffer.from('fatal: not a git repository\n'), ...above });
  expect(line?.how_to_allow).toContain("`ctxd allow path '/home/ann/$(id)'`");
});
