import type { DangerKind } from './protected-names.ts';

const REASONS: Readonly<Record<DangerKind, string>> = {
  name: 'a program on the host would run or trust it',
  pointer: 'git on the host would use the repository it leads to',
  hooks: 'git on the host would run what is in it',
  config: 'git on the host would run what it names, or be led elsewhere',
  commondir: 'git on the host would take its settings from elsewhere',
  directory: 'git on the host would follow this link',
  link: 'git on the host would write through this link',
  attributes: 'git on the host would run filters it names',
  gitdir: 'git on the host would write a pointer outside of the project',
  remotes: 'git on the host would run the helpers that these addresses name',
  state: 'git on the host would run what it names when the rebase or am goes on',
  target: 'your git configuration or hooks run or read it',
  stray: 'as a git configuration it would run a program or lead elsewhere',
};

export const REPLACED_LINK = 'a command replaced a protected link with it';

/** Why something was set aside: a clause for people, as in `.envrc was set aside: a program on the host would run it`. */
export function reasonFor(kind: DangerKind): string {
  return REASONS[kind];
}
