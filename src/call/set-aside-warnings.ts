import type { SetAside } from '../core/envelope.ts';
import { quoteName } from '../core/own-line.ts';

/** Up to this many paths get their own warning; more share one. */
const WARNED_MAX = 5;
/** Paths named in the shared warning. */
const NAMED_MAX = 3;

/** Warns about files from a call that the host would run later: renamed, removed, or left for a person to judge. */
export function setAsideWarnings(found: readonly SetAside[]): string[] {
  const isHere = ({ stays }: SetAside): boolean => stays === true;
  return [...quarantineWarnings(found.filter((one) => !isHere(one))), ...reportWarnings(found.filter(isHere))];
}

function quarantineWarnings(found: readonly SetAside[]): string[] {
  const removed = found.filter((one) => one.removed === true);
  return [...movedWarnings(found.filter((one) => one.removed !== true)), ...removedWarnings(removed)];
}

/** For pipes, and locks of dead git processes. */
function removedWarnings(removed: readonly SetAside[]): string[] {
  if (removed.length <= WARNED_MAX)
    return removed.map(({ path, reason }) => `${quoteName(path)} was removed: ${reason}.`);
  const named = removed.slice(0, NAMED_MAX).map(({ path }) => quoteName(path));
  return [
    `${removed.length} paths were removed, such as ${named.join(', ')}: they would keep git on the host waiting.`,
  ];
}

function movedWarnings(quarantined: readonly SetAside[]): string[] {
  if (quarantined.length <= WARNED_MAX) {
    return quarantined.map(
      ({ path, id, reason }) =>
        `${quoteName(path)} was set aside: ${reason}. A person can allow it: ctxd quarantine accept ${id}`,
    );
  }
  const named = quarantined.slice(0, NAMED_MAX).map(({ path }) => quoteName(path));
  return [
    `${quarantined.length} paths were set aside, such as ${named.join(', ')}: programs on the host would run or trust them. A person can allow them: ctxd quarantine list`,
  ];
}

/** Names the files that stay in place for a person to review. */
function reportWarnings(reported: readonly SetAside[]): string[] {
  if (reported.length === 0) return [];
  const isShort = reported.length <= WARNED_MAX;
  const named = isShort
    ? reported.map(({ path, reason }) => `${quoteName(path)} (${reason})`)
    : reported.slice(0, NAMED_MAX).map(({ path }) => quoteName(path));
  const count = isShort ? '' : `${reported.length} paths, such as `;
  return [`reported to the person: ${count}${named.join(', ')}`];
}
