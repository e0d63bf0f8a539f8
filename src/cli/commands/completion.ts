import { ContextdError } from '../../core/errors.ts';
import { type Command, defineCommand } from '../command.ts';

/** Every command, and the summary of each group of commands. */
export interface CommandTable {
  commands: readonly Command[];
  groups: Readonly<Record<string, string>>;
}

/** `table` is called when the command runs, because the table contains this command. */
export function completion(table: () => Promise<CommandTable>): Command {
  return defineCommand({
    name: ['completion'],
    summary: 'Print a completion script for a shell.',
    parameters: [{ syntax: '[shell]', help: `one of ${Object.keys(SCRIPTS).join(', ')}` }],
    async run(_context, args) {
      const shell = args.word(0) ?? '';
      const script = SCRIPTS[shell];
      if (script !== undefined) return { shell, script: script(placesOf(await table())) };
      const what =
        shell === '' ? 'the shell is missing' : `there is no completion for the shell ${JSON.stringify(shell)}`;
      throw new ContextdError('ARGS_INVALID', what, {
        remedy: `Pass one of ${Object.keys(SCRIPTS).join(', ')}.`,
      });
    },
    view: ({ script }) => ({ kind: 'raw', text: script }),
  });
}

/** What can follow the words `path`: subcommands, or the options of a command. */
interface Place {
  path: readonly string[];
  words: readonly { word: string; help: string }[];
}

export function placesOf({ commands, groups }: CommandTable): Place[] {
  // By the words before it: what may follow, with its help.
  const next = new Map<string, Map<string, string>>();
  for (const { name, summary } of commands) {
    for (const [depth, word] of name.entries()) {
      const before = name.slice(0, depth).join(' ');
      const words = next.get(before) ?? new Map<string, string>();
      const group = groups[name.slice(0, depth + 1).join(' ')] ?? words.get(word);
      words.set(word, depth === name.length - 1 ? summary : (group ?? summary));
      next.set(before, words);
    }
  }
  const wordsAfter = (path: readonly string[]): Place['words'] =>
    [...(next.get(path.join(' ')) ?? [])].map(([word, help]) => ({ word, help }));
  // A group can be a command too, such as `scrub` beside `scrub approve`.
  const commandsOnly = new Set(commands.map(({ name }) => name.join(' ')));
  const onlyGroups = [...next.keys()].filter((path) => !commandsOnly.has(path)).map((path) => path.split(' '));
  return [
    ...onlyGroups
      .map((words) => words.filter((word) => word !== ''))
      .map((path) => ({ path, words: wordsAfter(path) })),
    ...commands.map(({ name, options }) => ({
      path: name,
      words: [...wordsAfter(name), ...options.flatMap(optionWords), JSON_OPTION],
    })),
  ];
}

const JSON_OPTION = { word: '--json', help: 'print the bare data as one JSON value' };

/** `-n, --lines <count>` has two spellings. */
function optionWords({ syntax, help }: { syntax: string; help: string }): { word: string; help: string }[] {
  return (syntax.match(/(?<=^|[ ,])--?[a-z][\w-]*/g) ?? []).map((word) => ({ word, help }));
}

const SCRIPTS: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Completes files if nothing of ctxd fits. */
function bashScript(places: readonly Place[]): string {
  return `# bash completion for ctxd: eval "$(ctxd completion bash)"
_ctxd() {
  local word path= words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path+="\${path:+ }$word"
  done
  while :; do
    case $path in
${places.map(({ path, words }) => `      ${quote(path.join(' '))}) words=${quote(words.map(({ word }) => word).join(' '))} ;;`).join('\n')}
      *' '*) path=\${path% *}; continue ;;
    esac
    break
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _ctxd ctxd
`;
}

function zshScript(places: readonly Place[]): string {
  return `#compdef ctxd
# zsh completion for ctxd: eval "$(ctxd completion zsh)"
_ctxd() {
  local word place
  local -a names
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || place="\${place:+$place }$word"
  done
  while :; do
    case $place in
${places
  .map(({ path, words }) => {
    const described = words.map(({ word, help }) => quote(`${word}:${help.replaceAll(':', ';')}`)).join(' ');
    return `      ${quote(path.join(' '))}) names=(${described}) ;;`;
  })
  .join('\n')}
      *' '*) place=\${place% *}; continue ;;
    esac
    break
  done
  _describe ctxd names || _files
}
compdef _ctxd ctxd
`;
}

function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, words }) =>
    words.map(({ word, help }) => {
      const isSubcommand = !word.startsWith('-');
      const condition = `__ctxd_at ${isSubcommand ? 'exactly' : 'below'} ${path.map(quote).join(' ')}`.trim();
      const what = isSubcommand
        ? `-f -a ${quote(word)}`
        : word.startsWith('--')
          ? `-l ${quote(word.slice(2))}`
          : `-s ${quote(word.slice(1))}`;
      return `complete -c ctxd -n ${quote(condition)} ${what} -d ${quote(help)}`;
    }),
  );
  return `# fish completion for ctxd (ctxd completion fish | source)
function __ctxd_at
    set -l given (commandline -opc)[2..-1]
    set -l given (string match -v -- '-*' $given)
    set -l path $argv[2..-1]
    if test $argv[1] = exactly
        test "$given" = "$path"
    else if set -q path[1]
        set -l depth (count $path)
        test "$given[1..$depth]" = "$path"
    else
        test (count $given) -eq 0
    end
end
${lines.join('\n')}
`;
}

/** A single-quoted word; bash, zsh and fish read it the same way. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
