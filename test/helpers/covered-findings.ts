import type { Detection } from '#src/scrub/exact/detector.js';

interface Masked {
  readonly start: number;
  readonly end: number;
  readonly inner?: readonly string[] | undefined;
}

/**
 * Whether a finding of the exact detector is masked. Of percent encoding the detector reports the whole run, as gitleaks does;
 * masked is what stands for the secret, and its decoded text holds the secret.
 */
export function isCovered({ start, end, secret, tags }: Detection, masked: readonly Masked[]): boolean {
  if (start === end || masked.some((place) => place.start <= start && end <= place.end)) return true;
  const meets = masked.filter((place) => place.start < end && start < place.end);
  return tags.includes('decoded:percent') && meets.some(({ inner }) => inner?.some((text) => text.includes(secret)));
}
