import type { ViewMaker } from '../dispatch/view/run-view.ts';
import { scrubReleases } from '../dispatch/run.ts';
import type { SecondSearch } from '../dispatch/scrub.ts';
import { Jobs, type JobsDeps } from '../jobs/jobs.ts';
import type { FindLine } from '../jobs/wait.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import { readView } from '../tokens/views/read-view.ts';
import type { Chore } from './chores.ts';

export interface BuildJobsDeps
  extends Omit<JobsDeps, 'scrub' | 'scrubAgain' | 'maskText' | 'stored'> {
  scrubber: Scrubber;
  secondSearch: SecondSearch;
}

/** The background jobs, with the scrubbing of a call for their outputs. */
export function buildJobs({ scrubber, secondSearch, ...deps }: BuildJobsDeps): Jobs {
  return new Jobs({
    ...deps,
    scrub: (session, releases, opened) =>
      scrubReleases(session, releases, { tool: 'safe_bash', opened }, { scrubber, secondSearch }),
    scrubAgain: async (session, text) => (await scrubber.scrubAgain(session, text, [])).value,
    maskText: (text) => scrubber.maskText(text),
    stored: (item) => secondSearch.stored(item),
  });
}

/** Finds a line as the view `grep` does: with the linear engine, and in a thread if the text is long. */
export function lineFinder(views: ViewMaker): FindLine {
  return async (text, pattern, limits) => {
    if (text === '') return null;
    const view = readView({ grep: pattern });
    const streams = [{ field: 'output', text }];
    const viewed = await views.make({ view, streams, failed: false, earlier: null, digestChars: 0 }, limits);
    const first = /^\d+(?=:)/.exec(viewed.streams[0]?.text ?? '');
    return first === null ? null : Number(first[0]);
  };
}

const LEASES_EVERY_MS = 15_000;

/** Stops jobs that nobody looks at any more. */
export function leaseChore(jobs: Pick<Jobs, 'endLeases'>): Chore {
  return { name: 'end leases of jobs', everyMs: LEASES_EVERY_MS, run: () => jobs.endLeases() };
}
