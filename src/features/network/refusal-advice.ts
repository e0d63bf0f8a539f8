import type { Denial } from '../../core/envelope.ts';
import { HOST_GROUPS } from '../../egress/groups.ts';
import { groupWith, type MirrorHost, WEB_PORTS } from './policy.ts';

const ALLOWABLE = /ctxd network allow /;
const UNDECIDED = 'nobody has decided yet what this project may reach; only a person can';

/** The group that has a host, among its public hosts or the mirrors of this machine; null if none has. */
export function groupOf(
  host: string,
  port: number | undefined,
  mirrorsOf: (group: string) => readonly MirrorHost[],
): string | null {
  const isMirror = ({ pattern }: MirrorHost): boolean =>
    pattern === host || (port === undefined ? pattern.startsWith(`${host}:`) : pattern === `${host}:${port}`);
  const withMirror = Object.keys(HOST_GROUPS).find((group) => mirrorsOf(group).some(isMirror));
  // The hosts of groups are allowed at the web's ports: at another one the group would not help.
  const isOfGroup = port === undefined || WEB_PORTS.includes(port);
  return (isOfGroup ? groupWith(host, HOST_GROUPS) : null) ?? withMirror ?? null;
}

/** Refusals in the words for an answer: with the group that would allow the host too. `isUndecided`: the project has no rules. */
export function adviseOn(
  denied: readonly Denial[],
  isUndecided: boolean,
  groupWithHost: (host: string, port: number | undefined) => string | null,
): Denial[] {
  return denied.map((denial) => {
    if (denial.kind !== 'network' || denial.host === undefined || !ALLOWABLE.test(denial.how_to_allow)) return denial;
    const group = groupWithHost(denial.host, denial.port);
    const also = group === null ? '' : `, or ctxd network allow ${group} for its whole group`;
    return {
      ...denial,
      ...(isUndecided ? { rule: UNDECIDED } : {}),
      how_to_allow: `${denial.how_to_allow}${also}`,
    };
  });
}
