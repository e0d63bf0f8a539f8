import { posix } from 'node:path';
import type { Denial } from '../../core/envelope.ts';
import { quoteName } from '../../core/own-line.ts';
import { isBelow } from '../../core/paths.ts';
import { pastableWord } from '../../core/shell-quote.ts';
import { BUNDLE_DIR, NODE_BINARY, SANDBOX_HOME } from '../contract/places.ts';
import { isDebuggerCall } from './complaints.ts';
import { howToInstallHooks } from './install-hooks.ts';

const OUTSIDE = 'A person can do it outside contextd.';
const INSIDE = 'Write below the workspace, /tmp or $HOME.';

const HOOKS = "the repository's hooks are read-only for tools";
/** A protected path, relative to its tree, and the rule that is reported; the first match counts. */
const PROTECTED: readonly (readonly [RegExp, string])[] = [
  [
    /(?:^|\/)(?:config|config\.worktree|commondir|attributes)$/,
    "the repository's configuration is read-only for tools",
  ],
  [/(?:^|\/)\.git$/, 'the link to the repository is read-only for tools'],
  [/(?:^|\/)contextd\.lock$/, "contextd's lock file is read-only for tools"],
  // Also what `core.hooksPath` names, such as `.githooks` or `.husky/_`.
  [/(?:^|\/)(?:[\w.-]*hooks|\.husky)(?:\/|$)/, HOOKS],
  [
    /(?:^|\/)(?:\.envrc|\.\w+rc|\.\w*profile|\.\w+env|\.\w+log(?:in|out))$/,
    'files that a shell or another program runs by itself are read-only for tools',
  ],
];
const PROTECTED_ELSE = 'a program on the host would run or trust this path, so it is read-only for tools';
/** Writable, and not the person's files. */
const SCRATCH = ['/tmp', '/dev/shm', SANDBOX_HOME];
const SYSTEM = /^\/(?:usr|etc|bin|sbin|lib\w*|dev|proc)(?:\/|$)/;

export interface PathFacts {
  readonly workspace: string;
  readonly writable: readonly string[];
  readonly repositoryAbove: string | null;
  /** Whether a person could allow this directory outside the project. Says nothing about whether it exists. */
  isAllowable(directory: string): boolean;
  /** The script of the package that installs hooks; null without one. */
  hookScript(): string | null;
}

/** `root` is the mount that decides, `/` if no mount contains the path; `isDirectory`: the command wanted to make a directory. */
export function readOnlyPath(path: string, root: string, facts: PathFacts, isDirectory: boolean): Denial {
  if (root === facts.repositoryAbove) {
    return {
      kind: 'read_only',
      path,
      rule: 'of the repository around the project, tools can write the part that is the project only',
      how_to_allow: `A person can make the whole repository the project: \`ctxd init --uninstall ${pasted(facts.workspace)}\`, then \`ctxd init ${pasted(root)}\`.`,
    };
  }
  if (root === facts.workspace) {
    return {
      kind: 'read_only',
      path,
      rule: 'the tool states that it changes no files of the project, so they are read-only for it',
      how_to_allow: 'The author of the tool can state "files": "write" in "effects" of its tool.json.',
    };
  }
  const trees = [facts.workspace, ...facts.writable.filter((one) => !SCRATCH.includes(one))];
  const tree = trees.find((one) => isBelow(one, root));
  if (tree !== undefined) {
    const rule = protectedRule(posix.relative(tree, root));
    return {
      kind: 'read_only',
      path,
      rule,
      how_to_allow: rule === HOOKS ? howToInstallHooks(facts.hookScript()) : OUTSIDE,
    };
  }
  const rule = 'tools can write below the workspace, /tmp and $HOME only';
  if (root === '/' && !SYSTEM.test(path)) {
    return { kind: 'read_only', path, rule, how_to_allow: `${INSIDE} ${howToAllowPath(path, isDirectory, facts)}` };
  }
  const isOurs = root === '/' || root === NODE_BINARY || root === BUNDLE_DIR || SYSTEM.test(root);
  return {
    kind: 'read_only',
    path,
    rule: isOurs ? rule : 'toolchains and directories of sandbox.ro_paths are read-only for tools',
    how_to_allow: `${INSIDE} ${OUTSIDE}`,
  };
}

/**
 * Commands can be allowed to write directories, not single files, and `ctxd allow path` makes the directory that it names. So a
 * name is only advised if the command wanted a directory there; a file goes into one whose name the person chooses.
 */
function howToAllowPath(path: string, isDirectory: boolean, { isAllowable }: PathFacts): string {
  const parent = posix.dirname(path);
  const wanted = isDirectory ? path : parent;
  if (isAllowable(wanted)) return `A person can allow the directory: \`ctxd allow path ${pasted(wanted)}\`.`;
  const other = posix.join(parent, DIRECTORY);
  if (!isAllowable(other)) return OUTSIDE;
  const place = quoteName(`${other}/${posix.basename(path)}`);
  return `A person can allow another directory: \`ctxd allow path ${pasted(other)}\`. Then use ${place}.`;
}

/** What the person replaces by a name. */
const DIRECTORY = 'DIRECTORY';

/** A command may have chosen the path, and a person may paste the line that names it into a shell. */
export function pasted(path: string): string {
  return pastableWord(path) ?? DIRECTORY;
}

function protectedRule(root: string): string {
  return PROTECTED.find(([name]) => name.test(root))?.[1] ?? PROTECTED_ELSE;
}

/**
 * git keeps a protected file when it switches to a revision that has another one or none, and refuses to switch back over
 * it. `-f` takes the file as it is, also outside contextd.
 */
export function keptByGit(denial: Denial): Denial {
  return {
    ...denial,
    rule: `${denial.rule}; it kept its content`,
    how_to_allow: denial.rule === HOOKS || denial.how_to_allow === OUTSIDE ? SWITCH_WITH_FORCE : denial.how_to_allow,
  };
}

const SWITCH_WITH_FORCE =
  'git switches between revisions that differ in these files with `git checkout -f BRANCH` (commit first; files with ' +
  '"unable to unlink" stay). To rebase or merge such a branch: `git worktree add DIR BRANCH`, then work in DIR.';

/** Does not reveal whether the path exists on the host. */
export function absentPath(path: string): Denial {
  if (path.startsWith('/etc/')) {
    return {
      kind: 'absent',
      path,
      rule: 'tools see what packages put into /etc unchanged and what is public by its purpose',
      how_to_allow: 'A person can list its name in sandbox.etc (docs/outside.md) if everybody may read it.',
    };
  }
  return {
    kind: 'absent',
    path,
    rule: 'this path is not mounted: tools see the workspace, /usr and the directories of sandbox.ro_paths',
    how_to_allow:
      'A person can list its directory in sandbox.ro_paths (to write it: `ctxd allow path DIRECTORY`), or copy what is needed into the workspace.',
  };
}

/** `path`: where the host has the program. */
export function missingProgram(path: string): Denial {
  return {
    kind: 'program',
    path,
    rule: 'the host has this program on PATH, but its directory is not mounted',
    how_to_allow: `A person can run \`ctxd allow toolchains\`, which offers ${quoteName(posix.dirname(path))}.`,
  };
}

/** True for the name or path of `ctxd`, which acts for a person: no sandbox has it, and no permission changes that. */
export function isPersonal(program: string): boolean {
  return posix.basename(program) === 'ctxd';
}

export function personalProgram(program: string): Denial {
  return {
    kind: 'program',
    path: program,
    rule: 'it acts for a person, so no sandbox has it',
    how_to_allow: 'A person can run the command on the host.',
  };
}

/** git found no repository, because it is above the project. */
export function repositoryAbove(top: string, isAllowable: PathFacts['isAllowable']): Denial {
  return {
    kind: 'absent',
    path: `${top}/.git`,
    rule: 'the project is a part of this repository, which tools do not see',
    how_to_allow: isAllowable(top)
      ? `A person can let tools read it and commit in it: \`ctxd allow path ${pasted(top)}\`.`
      : OUTSIDE,
  };
}

export function hiddenPath(path: string): Denial {
  return {
    kind: 'hidden',
    path,
    rule: 'a pattern of sandbox.deny hides this path from tools',
    how_to_allow: `A person can remove the pattern from sandbox.deny. ${OUTSIDE}`,
  };
}

/** `why`: what keeps the commands of this machine from the network; null if this command has none by its policy. */
export function noNetwork(host: string | null, why: string | null): Denial {
  return {
    kind: 'network',
    ...(host === null ? {} : { host }),
    rule: why === null ? 'this command has no network' : `there is no network: ${why}`,
    how_to_allow: why === null ? OUTSIDE : 'A person can see how to get one: ctxd doctor',
  };
}

/** The command has no network because of `ctxd network off` or `network.default`. */
export function switchedOff(host: string | null): Denial {
  return {
    kind: 'network',
    ...(host === null ? {} : { host }),
    rule: 'the network of this project is off',
    how_to_allow: 'A person can switch it on: ctxd network on',
  };
}

/** A program that dialled an address instead of a name. */
export function byNameOnly(address: string | null): Denial {
  return {
    kind: 'network',
    ...(address === null ? {} : { host: address }),
    rule: 'tools reach hosts by their name, not by an address',
    how_to_allow: 'Use the name of the host. A person can allow it: ctxd network allow NAME',
  };
}

export function refusedCall(call: string): Denial {
  return {
    kind: 'seccomp',
    rule: `the system call ${call} is refused to tools`,
    how_to_allow: isDebuggerCall(call) ? `Only a debugger's profile allows it. ${OUTSIDE}` : OUTSIDE,
  };
}

/** `chmod` and its like fail with the same error for a file of another user. */
export function refusedMode(path: string): Denial {
  return {
    kind: 'seccomp',
    path,
    rule: 'tools cannot set the setuid or setgid bit of a file or directory, and change modes of their own files only',
    how_to_allow: 'A person can set the mode outside contextd. Without these bits (chmod 755) it works.',
  };
}

export function killedByFilter(): Denial {
  return {
    kind: 'seccomp',
    rule: 'a system call that no tool may make ended the command (SIGSYS)',
    how_to_allow: OUTSIDE,
  };
}
