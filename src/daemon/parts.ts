import type { Entrance } from './build-entrance.ts';
import type { Execution } from './build-execution.ts';
import type { Remembering, SessionKeeping } from './build-remembering.ts';
import type { Scrubbing } from './build-scrubbing.ts';
import type { Stores } from './build-stores.ts';

/** Every part of the daemon that another part, or a test, may use. */
export type DaemonParts = Stores & Scrubbing & Remembering & SessionKeeping & Execution & Entrance;
