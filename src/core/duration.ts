const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** A time such as `90s`, `30m`, `1h` or `7d`, as a person writes it. */
export const DURATION_PATTERN = /^([1-9]\d{0,5})([smhd])$/;

/** Milliseconds of a time that fits DURATION_PATTERN; null for any other text. */
export function durationMs(text: string): number | null {
  const [, digits = '', unit = ''] = DURATION_PATTERN.exec(text) ?? [];
  const known = Object.entries(UNITS_MS).find(([name]) => name === unit);
  return known === undefined ? null : Number(digits) * known[1];
}
