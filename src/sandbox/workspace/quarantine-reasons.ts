import type { DangerKind } from './protected-names.ts';

const REASONS: Readonly<Record<DangerKind | 'link', string>> = {
  name: 'a program on the host would run or trust it',
  pointer: 'git on the host would use the repository it names',
  hooks: 'git on the host would run what is in it',
  config: 'git on the host would run what it names',
  commondir: 'git on the host would take its settings from elsewhere',
  info: 'git on the host would take its attributes from elsewhere',
  attributes: 'git on the host would run filters it names',
  link: 'a command replaced a protected link with it',
};

/** Why something was set aside: a clause for people, as in `.envrc was set aside: a program on the host would run it`. */
export function reasonFor(kind: DangerKind | 'link'): string {
  return REASONS[kind];
}
