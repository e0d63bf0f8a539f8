const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** An amount of bytes for a person, such as `1.4 MB`; a unit is a thousand of the one before. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1000 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[power]}`;
}
