import fc from 'fast-check';
import type { Charge, Parts } from './charges.ts';
import type { Step } from './shape.ts';

const STRATEGY = '#!/bin/sh\n:>@MARK@\nexit 1\n';

/** The lines of a todo that run the canary. */
export const execLines: fc.Arbitrary<string> = fc
  .record({
    before: fc.constantFrom('', '# a note\n', '\n\n', 'noop\n', 'label onto\n'),
    indent: fc.constantFrom('', ' ', '\t'),
    command: fc.constantFrom('exec', 'x'),
    gap: fc.constantFrom(' ', '\t', '  '),
    run: fc.constantFrom(':>@MARK@', '@CANARY@', ':>@MARK@ && false'),
    end: fc.constantFrom('\n', '', '\nnoop\n'),
  })
  .map(({ before, indent, command, gap, run, end }) => `${before}${indent}${command}${gap}${run}${end}`);

const execTodo = execLines.map(
  (todo): Charge => ({
    families: ['rebase todo'],
    head: 'empty',
    entries: [],
    steps: (parts) => rebaseMerge(parts, todo),
  }),
);

/**
 * An unfinished rebase or cherry-pick: no configuration names a program, but the person's next
 * `--continue` carries out these files.
 */
export const states: fc.Arbitrary<Charge> = fc.oneof(
  { weight: 4, arbitrary: execTodo },
  { weight: 2, arbitrary: fc.constant(strategyTodo()) },
  { weight: 2, arbitrary: fc.constant(sequencer()) },
);

/** git runs `git-merge-x/run` for a strategy named `x/run`: a path with a slash is not looked up on PATH. */
function strategyTodo(): Charge {
  return {
    families: ['merge strategy', 'rebase todo'],
    head: 'empty',
    entries: [],
    steps: (parts) => [
      ...rebaseMerge(parts, 'pick @SIDE@\n'),
      { do: 'write', path: `${parts.gitDir}/rebase-merge/strategy`, text: 'x/run\n' },
      { do: 'write', path: `${parts.gitDir}/rebase-merge/strategy_opts`, text: ' --a\n' },
      { do: 'write', path: `${parts.workTree}/git-merge-x/run`, text: STRATEGY, executable: true },
    ],
  };
}

export function rebaseMerge({ gitDir, tip }: Parts, todo: string): Step[] {
  return files(`${gitDir}/rebase-merge`, {
    'head-name': 'detached HEAD\n',
    onto: `${tip}\n`,
    'orig-head': `${tip}\n`,
    'git-rebase-todo': todo,
    interactive: '',
  });
}

function sequencer(): Charge {
  return {
    families: ['sequencer', 'merge strategy'],
    head: 'empty',
    entries: [],
    steps: ({ gitDir, workTree, tip }) => [
      ...files(`${gitDir}/sequencer`, {
        head: `${tip}\n`,
        todo: 'pick @HEAD@ one\npick @SIDE@ side\n',
        opts: '[options]\n\tstrategy = x/run\n',
      }),
      { do: 'write', path: `${workTree}/git-merge-x/run`, text: STRATEGY, executable: true },
    ],
  };
}

/** `git am --continue` runs a hook and commits what is staged. Without an index, all files count as removed. */
export const amState: Charge = {
  families: ['am', 'hooks'],
  head: 'files',
  entries: [],
  steps: ({ gitDir, commonDir }) => [
    ...files(`${gitDir}/rebase-apply`, {
      next: '1\n',
      last: '1\n',
      applying: '',
      'apply-opt': '',
      threeway: 't\n',
      sign: 'f\n',
      keep: 'f\n',
      scissors: 'f\n',
      utf8: 't\n',
      quiet: 'f\n',
      messageid: 'f\n',
      'final-commit': 'm\n',
      'author-script':
        "GIT_AUTHOR_NAME='a'\nGIT_AUTHOR_EMAIL='a@example.com'\nGIT_AUTHOR_DATE='2020-01-01T00:00:00Z'\n",
      '0001': 'From a Mon Sep 17 00:00:00 2001\nFrom: a <a@example.com>\nSubject: m\n\n---\n',
    }),
    {
      do: 'write',
      path: `${commonDir}/hooks/pre-applypatch`,
      text: '#!/bin/sh\n:>@MARK@\n',
      executable: true,
    },
  ],
};

function files(dir: string, texts: Readonly<Record<string, string>>): Step[] {
  return Object.entries(texts).map(([name, text]) => ({ do: 'write', path: `${dir}/${name}`, text }));
}
