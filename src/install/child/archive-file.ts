import type { FetchLimits } from '../limits.ts';
import type { Meter } from './meter.ts';

/** An archive on this disk. */
export interface ArchiveFile {
  path: string;
  /** How messages call it. */
  name: string;
  limits: FetchLimits;
  meter: Meter;
}
