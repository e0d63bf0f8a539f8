/** What bash has as a builtin or keyword, as far as it could be the name of a tool: a shell would not look for a program. */
const SHELL_WORDS = new Set(
  `alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare dirs disown do done
  echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if in jobs kill
  let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test
  then time times trap true type typeset ulimit umask unalias unset until wait while`.split(/\s+/),
);

/** How the names of contextd's own tools begin, also of later versions. */
const OWN = /^(?:safe|tool|memory|checkpoint|session|ctxd|contextd)(?:_|$)|^(?:branch|jobs)$/;

/** True for a name that a tool of another author may not have. */
export function isReservedName(name: string): boolean {
  return SHELL_WORDS.has(name) || OWN.test(name);
}
