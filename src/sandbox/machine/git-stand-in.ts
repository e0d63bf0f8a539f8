/** In /etc: what stands in for a program of git's configuration that commands do not have. */
export const STAND_IN_FILE = 'contextd-git-driver';

/**
 * `clean` takes content that is the blob in the index: a checkout through the stand-in has left it, and git reads files of
 * the last second again. Nothing else becomes content of a commit.
 */
export const STAND_IN_SCRIPT = `# git runs this instead of a program that commands do not have: WHAT DRIVER PROGRAM [PATH]
say() {
  echo "contextd: $1: the $2 of the git configuration needs $3, which commands do not have." >&2
}
case $1 in
clean)
  blob=":0:$4"
  size=$(git cat-file -s "$blob" 2>/dev/null) &&
    [ "$(head -c $((size + 1)) | git hash-object --stdin)" = "$(git rev-parse "$blob")" ] &&
    exec git cat-file blob "$blob"
  say "$4 cannot be added or compared" "filter $2" "$3"
  ;;
smudge)
  say "$4 is checked out as git stores it" "filter $2" "$3"
  exec cat
  ;;
merge) say 'a file cannot be merged' "merge driver $2" "$3" ;;
*) say 'files cannot be added, compared or checked out' "filter $2" "$3" ;;
esac
echo 'contextd: A person can install it below /usr, offer it with: ctxd allow toolchains, or do this outside contextd.' >&2
exit 1
`;
