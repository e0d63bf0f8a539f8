import type { Denial } from '../../core/envelope.ts';
import type { ConnectionFact } from '../../egress/messages.ts';
import { allowTarget, deniedBy, howToBind } from '../../egress/refusal.ts';

/** Denials that one command may report. */
export const DENIALS_MAX = 10;

/** A connection or a name look-up that the proxy refused. */
export function refusedConnection(refusal: Refusal): Denial {
  const { host, port, why } = refusal;
  return { kind: 'network', host, ...(port === 0 ? {} : { port }), rule: why, how_to_allow: howToAllow(refusal) };
}

function howToAllow({ host, port, rule, why, isAllowable, isBindable = false }: Refusal): string {
  // The host comes from the command: a person may paste the line into a shell.
  const isPlain = /^[a-z0-9_.-]+$/.test(host);
  if (isAllowable && isPlain) return `A person can allow it: ctxd network allow ${allowTarget(host, port)}`;
  if (isBindable && isPlain) return `A person can allow it: ${howToBind(host, port)}`;
  if (rule !== null && why === deniedBy(rule)) return `A person can take the denial back: ctxd network remove ${rule}`;
  return 'No permission changes this.';
}

type Refusal = Pick<ConnectionFact, 'host' | 'port' | 'rule' | 'why' | 'isAllowable' | 'isBindable'>;
