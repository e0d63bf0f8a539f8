import { ContextdError } from '../../core/errors.ts';
import type { OciRule } from './profile.ts';

const NAMES_SHOWN = 3;

/** "syscalls[3] (socket, socketpair, … 2 more)". */
export function ruleLabel(rule: OciRule, index: number): string {
  const shown = rule.names.slice(0, NAMES_SHOWN).join(', ');
  const more = rule.names.length - NAMES_SHOWN;
  return `syscalls[${index}] (${shown}${more > 0 ? `, … ${more} more` : ''})`;
}

/** SCHEMA_INVALID. `where` is a rule's label or the key of the profile. */
export function profileFault(where: string, what: string, remedy: string): ContextdError {
  return new ContextdError('SCHEMA_INVALID', `seccomp profile, ${where}: ${what}`, { remedy, details: { where } });
}
