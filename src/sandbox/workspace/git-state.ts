import { parseGitConfig } from './git-config.ts';
import { STRATEGY } from './git-config-keys.ts';

/** Every command of an instruction sheet but `exec`, which runs a program (sequencer.c, todo_command_info). */
const INSTRUCTIONS: ReadonlySet<string> = new Set([
  ...['p', 'pick', 'revert', 'e', 'edit', 'r', 'reword', 'f', 'fixup', 's', 'squash', 'l', 'label', 't', 'reset'],
  ...['m', 'merge', 'u', 'update-ref', 'noop', 'd', 'drop', 'b', 'break'],
]);

/** Keys of `sequencer/opts` that hold no program. */
const OPTION =
  /^options\.(no-commit|edit|allow-empty|allow-empty-message|drop-redundant-commits|keep-redundant-commits|signoff|record-origin|allow-ff|mainline|strategy-option|gpg-sign|allow-rerere-auto|default-msg-cleanup)$/;

/** What `git am` hands to `git apply`; other options write files, wherever they say. */
const APPLY_OPTION =
  /^'(--whitespace=[a-z-]+|-[Cp]\d+|--directory=(?![/.])[^']*|--(exclude|include)=[^']*|--reject|--ignore-(whitespace|space-change))'$/;

/** Assignments as `git am` and `git rebase` write them; old versions give the file to a shell. */
const AUTHOR_SCRIPT = /^(GIT_AUTHOR_(NAME|EMAIL|DATE)='([^']|'\\''|'\\!')*'\n?)*$/;

/**
 * Whether a file in which git keeps the state of a rebase, cherry-pick or am that stopped runs no program when a person
 * goes on with it. `name` as in GIT_DANGERS.
 */
export function isHarmlessState(name: string, text: string): boolean {
  switch (name) {
    case 'rebase-merge/git-rebase-todo':
    case 'sequencer/todo':
      return runsOf(text).length === 0;
    case 'rebase-merge/strategy':
    case 'rebase-apply/strategy':
      return STRATEGY.test(text.trim());
    case 'sequencer/opts':
      return areHarmlessOptions(text);
    case 'rebase-merge/author-script':
    case 'rebase-apply/author-script':
      return AUTHOR_SCRIPT.test(text);
    case 'rebase-apply/apply-opt':
      return (text.match(/'[^']*'|[^ \n]/g) ?? []).every((word) => APPLY_OPTION.test(word));
    case 'BISECT_NAMES':
      return /^( '[^']*')*\n*$/.test(text);
    default:
      return false;
  }
}

/** The lines of an instruction sheet that run a program, or that nobody knows. */
export function runsOf(text: string): string[] {
  return text.split('\n').filter((line) => {
    const word = /^[ \t\r]*([^ \t\r]*)/.exec(line)?.[1] ?? '';
    return word !== '' && !/^[#;]/.test(word) && !INSTRUCTIONS.has(word);
  });
}

function areHarmlessOptions(text: string): boolean {
  const entries = parseGitConfig(text);
  return (
    entries?.every(({ key, value }) => (key === 'options.strategy' ? STRATEGY.test(value ?? '') : OPTION.test(key))) ===
    true
  );
}
