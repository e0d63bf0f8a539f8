import { ContextdError } from '../../core/errors.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';

/** Not UPSTREAM_UNAVAILABLE: to try again is of no use. */
export function runsNothing({ name }: Pick<StoredServer, 'name'>): ContextdError {
  return new ContextdError('UPSTREAM_ERROR', `${name} is a catalogue file, which runs nothing`, {
    remedy: 'A person can add the server itself: `ctxd upstream add --help`.',
    details: { server: name },
  });
}

/** What a person accepts must be what they saw. */
export function changedAgain({ name }: StoredServer): ContextdError {
  return new ContextdError('CONFLICT', `the definitions of ${name} have changed again since they were shown`, {
    remedy: `Look again: \`ctxd upstream approve ${name}\`.`,
  });
}
