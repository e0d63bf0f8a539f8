import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import { isShellWord } from '../core/shell-words.ts';
import { TOOL_NAME_PATTERN } from './tool-name.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** How the names of contextd's own tools begin, also of later versions. */
const OWN =
  /^(?:safe|tool|memory|checkpoint|session|ctxd|contextd)(?:_|$)|^(?:branch|jobs)$|^(?:resource|prompt)_(?:browse|read|get)$/;

/**
 * Programs that a colleague or a later machine has, whether or not this one does: the utilities of POSIX and of GNU
 * coreutils, and what developers install most.
 */
const PROGRAMS = words(
  `admin ar arch asa at awk b2sum base32 base64 basename basenc batch bc c17 c99 cal cat cflow chcon chgrp chmod chown chroot
  cksum cmp comm compress cp crontab csplit ctags cut cxref date dd delta df diff dir dircolors dirname du ed egrep env ex
  expand expr factor fgrep file find fmt fold fuser gencat getconf grep groups head hostid hostname iconv id install ipcrm
  ipcs join lex link ln locale localedef logger logname lp ls m4 mailx make man md5sum mesg mkdir mkfifo mknod mktemp more
  mv newgrp nice nl nm nohup nproc numfmt od paste patch pathchk pax pinky pr printenv prs ps ptx readlink realpath renice
  rm rmdel rmdir runcon sact sccs sed seq sha1sum sha224sum sha256sum sha384sum sha512sum sh shred shuf sleep sort split stat
  stdbuf strings strip stty sum sync tabs tac tail talk tee timeout touch tput tr truncate tsort tty uname uncompress
  unexpand unget uniq unlink users uucp uudecode uuencode uustat uux val vdir vi wc what who whoami write xargs yacc yes zcat
  ack act ag ansible apk apt aria2c autoconf automake aws az bash bat bazel biome black bun bundle bunx bzip2 cargo cc clang
  claude clippy cmake code codex composer conda conan corepack cpio csh curl cypress dart dash deno direnv dnf docker dotnet
  doas elixir emacs erl esbuild eslint fd firebase fish flake8 flutter fzf g gawk gcc gcloud gdb gem gemini gh ghc git glab
  go gofmt gpg gpg2 gradle gunzip gzip hatch helm heroku hg htop http iex ip isort java javac javap jest jj jq jshell julia
  just k3s k9s kind ksh kubectl latex ld less lld lldb llvm lsof lua lz4 mamba maven meson minikube mise mix mocha mongo
  mongosh mvn mypy mysql nano nc ncat netcat netlify netstat nft nginx ninja nix nmap node nodejs npm npx nu nvim objdump
  ocaml opam openssl opencode pandoc pdm perl pg_dump pgrep php pip pip3 pipenv pipx pkg pkill playwright pnpm podman poetry
  pre_commit prettier protoc psql pulumi pwsh py pyenv pylint pyright pytest python python2 python3 r rails rake rbenv
  redis rg rsync ruby ruff rustc rustfmt rustup rye sbt scala scp screen semgrep sftp sqlite3 ss ssh strace su sudo svn swift
  tar terraform time tmux top tox tree ts_node tsc tsx turbo uv uvx vagrant valgrind vercel vim virtualenv vite vitest watch
  wget which whatis whereis xxd bwrap bzcat column diff3 dmesg dpkg envsubst findmnt free getopt hexdump jar journalctl killall
  last login mount umount nsenter objcopy passwd pidof prlimit ranlib readelf script sdiff setsid size systemctl systemd tclsh
  uptime w zstd xcodebuild xz yarn yq zig zip unzip zsh zstd`,
);

/**
 * Why a tool of another author cannot have the name, as the end of a sentence; null if it can. `.claude/bin` comes before
 * PATH for agents, so a tool would be called instead of a program of its name. `searchPath`: PATH of the person.
 */
export async function faultOfName(name: string, searchPath: string): Promise<string | null> {
  if (!TOOL_NAME_PATTERN.test(name)) return `does not match ${TOOL_NAME_PATTERN}`;
  if (isShellWord(name) || OWN.test(name)) return 'is a name that contextd or a shell uses itself';
  if (PROGRAMS.has(name)) return 'is the name of a program that many machines have';
  const program = await findProgram(name, searchPath);
  return program === null ? null : `is the program ${program}`;
}

/** Returns true for a name that means the same on every machine: of a usual program, or a word of the shell. */
export function isProgramName(name: string): boolean {
  return PROGRAMS.has(name) || isShellWord(name);
}

/** Throws CONFLICT if a tool of another author cannot have the name. `searchPath`: PATH of the person, or of the daemon. */
export async function checkName(name: string, searchPath: string): Promise<void> {
  const fault = await faultOfName(name, searchPath);
  if (fault === null) return;
  throw new ContextdError('CONFLICT', `the tool is called ${name}, which ${fault}`, {
    remedy: 'Agents would call the tool instead. Its author must choose another name.',
  });
}

async function findProgram(name: string, searchPath: string): Promise<string | null> {
  for (const dir of searchPath.split(':').filter(isAbsolute)) {
    // Links to tools are what is found if the project's own directory is on PATH.
    if (dir.endsWith('/.claude/bin')) continue;
    const program = join(dir, name);
    const isProgram = await access(program, constants.X_OK).then(
      async () => (await stat(program)).isFile(),
      () => false,
    );
    if (isProgram) return program;
  }
  return null;
}
