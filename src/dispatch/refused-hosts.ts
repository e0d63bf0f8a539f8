import type { Outcome } from '../call/outcome.ts';
import { ContextdError } from '../core/errors.ts';

/** Hosts that the message names. */
const NAMED_MAX = 3;

/** A time-out of a command that asked for a refused host says so: waiting longer would not help. */
export function withRefusedHosts<O extends Pick<Outcome, 'failure' | 'denied'>>(outcome: O): O {
  const { failure, denied } = outcome;
  if (failure?.code !== 'TIMEOUT') return outcome;
  const refused = denied.filter(({ kind, host }) => kind === 'network' && host !== undefined);
  const [first] = refused;
  if (first === undefined) return outcome;
  const hosts = [...new Set(refused.map(({ host, port }) => (port === undefined ? `${host}` : `${host}:${port}`)))];
  const more = hosts.length > NAMED_MAX ? ` and ${hosts.length - NAMED_MAX} more` : '';
  const named = `${hosts.slice(0, NAMED_MAX).join(', ')}${more}`;
  const { message, details, retryAfterMs } = failure;
  return {
    ...outcome,
    failure: new ContextdError('TIMEOUT', `${message}; it asked for ${named}, which is refused`, {
      remedy: `${first.how_to_allow.replace(/\.$/, '')}. A larger timeout_ms does not help against a refusal.`,
      details,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      cause: failure.cause,
    }),
  };
}
