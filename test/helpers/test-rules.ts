import { scanNamed } from '#src/scrub/leaves.js';
import { readRuleSources } from '#src/scrub/rule-sources.js';
import { Engines } from '#src/scrub/scan/worker/engines.js';
import type { ScrubberDeps } from '#src/scrub/session-scrubber.js';

export const { pack, official } = readRuleSources();

const engines = new Engines({ pack, official });

/** All rules. The files of a worker share it: to compile the expressions that texts need takes seconds of a processor. */
export const engine = engines.for(null);

/** What the thread of a scanner does, in the thread of the test. `scanner.test.ts` is about threads and deadlines. */
export const scanner: ScrubberDeps['scanner'] = {
  start: async () => {},
  stop: async () => {},
  scan: async (texts, workspace = null) => texts.map((text) => scanNamed(engines.for(workspace), text)),
};
