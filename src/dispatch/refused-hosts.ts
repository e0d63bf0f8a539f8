import type { Outcome } from '../call/outcome.ts';
import { ContextdError } from '../core/errors.ts';

/** Maximum hosts named in the message. */
const NAMED_MAX = 3;

/** Names refused hosts in a command's timeout error, because waiting longer would not help. */
export function withRefusedHosts<O extends Pick<Outcome, 'failure' | 'facts'>>(outcome: O): O {
  const { failure, facts } = outcome;
  if (failure?.code !== 'TIMEOUT') return outcome;
  const refused = facts.denied.filter(({ kind, host }) => kind === 'network' && host !== undefined);
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
