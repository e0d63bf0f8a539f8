/** A git directory whose configuration runs the attacker's program at every `git status`. */
export function armed(gitDir: string, marker: string): string {
  return `git config --file "${gitDir}/config" core.fsmonitor 'touch "${marker}"; false' && mkdir -p "${gitDir}/hooks" && printf '#!/bin/sh\\ntouch "%s"\\n' '${marker}' >"${gitDir}/hooks/post-checkout" && chmod 755 "${gitDir}/hooks/post-checkout"`;
}

/** A trap that runs at the person's next git command. The scripts run in the sandbox one after another. */
export interface Trap {
  readonly name: string;
  readonly prepare?: string;
  runs(marker: string): string[];
  /** The directory in which the person then uses git. */
  readonly where: string;
  /** What the person types there. Default: a look and a new branch. */
  readonly uses?: string;
}

const COMMITTED_HERE =
  'git symbolic-ref HEAD refs/heads/other && echo x >file && git add file && git -c user.name=A -c user.email=a@example.com commit -qm one';
const COMMITTED = `git init -q . && ${COMMITTED_HERE}`;

/** Writes an index of version 2 with a path that git would not add. Arguments: the marker, and the bytes of a hash. */
const HOOK_IN_INDEX = String.raw`
import hashlib, struct, subprocess, sys
size = int(sys.argv[2]) if len(sys.argv) > 2 else 20
hook = "#!/bin/sh\ntouch '%s'\n" % sys.argv[1]
blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], input=hook.encode(), capture_output=True).stdout.strip()
entries = b""
for name in [b".git/hooks/post-checkout", b".git/hooks/pre-commit"]:
    entry = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100755, 0, 0, 0) + bytes.fromhex(blob.decode()) + struct.pack(">H", len(name)) + name
    entries += entry + b"\0" * (8 - len(entry) % 8)
index = b"DIRC" + struct.pack(">2I", 2, 2) + entries
open(".git/index", "wb").write(index + (hashlib.sha256 if size == 32 else hashlib.sha1)(index).digest())
`;

export const TRAPS: readonly Trap[] = [
  {
    name: 'a nested repository made in the run',
    runs: (marker) => [`git init -q sub && ${armed('sub/.git', marker)}`],
    where: 'sub',
  },
  {
    name: 'the project, turned into a repository',
    runs: (marker) => [`git init -q . && ${armed('.git', marker)}`],
    where: '.',
  },
  {
    name: 'a bare repository among the files',
    runs: (marker) => [
      `git init -q --bare sub && git -C sub config core.bare false && git -C sub config core.worktree . && ${armed('sub', marker)}`,
    ],
    where: 'sub',
  },
  {
    name: 'the project itself, turned into a bare repository',
    runs: (marker) => [
      `git init -q --bare x && mv x/* . && git config --file config core.bare false && git config --file config core.worktree . && ${armed('.', marker)}`,
    ],
    where: '.',
  },
  {
    name: 'a .git file that leads to a directory of another name',
    runs: (marker) => [`git init -q --separate-git-dir=store sub && ${armed('store', marker)}`],
    where: 'sub',
  },
  {
    name: 'a .git link that leads to a directory of another name',
    runs: (marker) => [
      `git init -q x && mkdir sub && mv x/.git store && ln -s ../store sub/.git && ${armed('store', marker)}`,
    ],
    where: 'sub',
  },
  {
    name: 'the configuration and hooks of a nested repository that was there',
    prepare: 'git init -q sub',
    runs: (marker) => [
      `${armed('sub/.git', marker)}; rm -f sub/.git/config; mv sub/.git/config sub/c; ${armed('sub/.git', marker)}`,
    ],
    where: 'sub',
  },
  {
    name: 'the git directory of a nested repository replaced',
    prepare: 'git init -q sub',
    runs: (marker) => [`mv sub/.git sub/old; git init -q x; mv x/.git sub/.git; ${armed('sub/.git', marker)}`],
    where: 'sub',
  },
  {
    name: 'the directory above a nested repository replaced',
    prepare: 'mkdir -p top && git init -q top/sub',
    runs: (marker) => [
      `mv top old; mkdir -p top/sub; git init -q x; mv x/.git top/sub/.git; ${armed('top/sub/.git', marker)}`,
    ],
    where: 'top/sub',
  },
  {
    name: 'commondir of the project’s repository',
    prepare: 'git init -q .',
    runs: (marker) => [`git init -q x; mv x/.git store; echo ../store >.git/commondir; ${armed('store', marker)}`],
    where: '.',
  },
  {
    name: 'config.worktree of the project’s repository',
    prepare: 'git init -q . && git config extensions.worktreeConfig true',
    runs: (marker) => [`git config --file .git/config.worktree core.fsmonitor 'touch "${marker}"; false'`],
    where: '.',
  },
  {
    name: 'a worktree’s pointer',
    prepare: 'git init -q -b main . && git commit -q --allow-empty -m one && git worktree add -q side',
    runs: (marker) => [
      `git init -q x; mv x/.git store; ${armed('store', marker)}; echo "gitdir: $PWD/store" >side/.git; rm -f side/.git; echo "gitdir: $PWD/store" >side/.git`,
    ],
    where: 'side',
  },
  {
    name: 'a directory of another name, renamed by a second run',
    runs: (marker) => [
      `git init -q x && mkdir sub && mv x/.git sub/innocent && ${armed('sub/innocent', marker)}`,
      'mv sub/innocent sub/.git',
    ],
    where: 'sub',
  },
  {
    name: 'a directory moved in whole by a second run',
    runs: (marker) => [
      `mkdir -p "$PWD/store/node_modules" && git init -q store/node_modules/x && ${armed('store/node_modules/x/.git', marker)}`,
      'mv store/node_modules/x sub',
    ],
    where: 'sub',
  },
  {
    name: 'a directory that the search cannot enter, opened by a second run',
    runs: (marker) => [`git init -q sub && ${armed('sub/.git', marker)}; chmod 000 sub`, 'chmod 755 sub'],
    where: 'sub',
  },
  {
    name: 'a deeply nested repository',
    runs: (marker) => [
      `d=sub$(printf '/p%.0s' $(seq 40)); mkdir -p $d && git init -q $d && ${armed('$d/.git', marker)}; ln -s $d near`,
    ],
    where: 'near',
  },
  {
    name: 'a repository behind five thousand other directories',
    runs: (marker) => [
      `mkdir many && (cd many && mkdir $(seq 5000)) && git init -q many/999/sub && ${armed('many/999/sub/.git', marker)}`,
    ],
    where: 'many/999/sub',
  },
  {
    name: 'a repository below a name that is not text',
    runs: (marker) => [
      `mkdir $'bad\\377' && git init -q $'bad\\377/sub' && ${armed("$(printf 'bad\\377/sub/.git')", marker)}; ln -s $'bad\\377/sub' near`,
    ],
    where: 'near',
  },
  {
    name: 'a repository whose times were set back',
    runs: (marker) => [
      `mkdir -p old/er && git init -q old/er/sub && ${armed('old/er/sub/.git', marker)}; find . -depth -exec touch -h -d 2001-01-01 {} +`,
    ],
    where: 'old/er/sub',
  },
  {
    name: 'MERGE_RR with .git/config',
    prepare: COMMITTED,
    runs: (marker) => {
      const hash = 'ab'.repeat(20);
      return [
        `d=.git/rr-cache/${hash}; mkdir -p $d; : >$d/preimage; printf 'x\\n[core]\\n\\tfsmonitor = "touch %s; false"\\n' '${marker}' >$d/postimage; printf '${hash}.-1\\t.git/config\\0' >.git/MERGE_RR; echo '* merge=union' >.gitattributes; echo more >>file`,
      ];
    },
    where: '.',
    uses: 'git commit -qam more; git status',
  },
  {
    name: 'an index with a hook',
    prepare: COMMITTED,
    runs: (marker) => [`python3 - '${marker}' <<'END'\n${HOOK_IN_INDEX}\nEND\n:`],
    where: '.',
    uses: 'git checkout .; git checkout -q -b next',
  },
  {
    name: 'an index with a hook, sha256',
    runs: (marker) => [
      `git init -q --object-format=sha256 sub && cd sub && ${COMMITTED_HERE} && python3 - '${marker}' 32 <<'END'\n${HOOK_IN_INDEX}\nEND\n:`,
    ],
    where: 'sub',
    uses: 'git checkout .; git checkout -q -b next',
  },
  {
    name: 'instructions for every rebase',
    runs: (marker) => [
      `git init -q sub && cd sub && ${COMMITTED_HERE} && git checkout -q -b topic && echo t >t && git add t && git commit -qm t && git tag start && git checkout -q other && echo o >o && git add o && git commit -qm o && git checkout -q topic && git config rebase.instructionFormat '%s%nexec touch ${marker}'`,
    ],
    where: 'sub',
    uses: 'git checkout -qf topic; git reset -q --hard start; git rebase other',
  },
];
