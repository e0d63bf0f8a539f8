import type { RequiredConfig } from './config.ts';

interface Point {
  startLine: number;
  startColumn: number;
}

/**
 * Those of `points` that have a finding of every required rule near them. A rule that is required twice need be near
 * by one of the two limits only.
 */
export function withCompany<P extends Point>(
  points: readonly P[],
  required: readonly RequiredConfig[],
  find: (id: string) => readonly Point[],
): P[] {
  if (required.length === 0 || points.length === 0) return [...points];
  const company = [...new Set(required.map(({ id }) => id))].map((id) => ({
    limits: required.filter((one) => one.id === id),
    found: find(id),
  }));
  return points.filter((point) =>
    company.every(({ limits, found }) => limits.some((limit) => found.some((other) => isNear(point, other, limit)))),
  );
}

function isNear(one: Point, other: Point, { withinLines, withinColumns }: RequiredConfig): boolean {
  const lines = Math.abs(one.startLine - other.startLine);
  const columns = Math.abs(one.startColumn - other.startColumn);
  return (
    !(withinLines !== undefined && lines > withinLines) && !(withinColumns !== undefined && columns > withinColumns)
  );
}
