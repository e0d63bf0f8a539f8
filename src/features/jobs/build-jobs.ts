import { scrubReleases } from '../../dispatch/run.ts';
import type { SecondSearch } from '../../dispatch/scrub.ts';
import { maskStreams } from '../../dispatch/store.ts';
import type { ViewMaker } from '../../dispatch/view/run-view.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { createOpenJobs } from '../../stores/open-jobs.ts';
import type { Database } from '../../stores/sqlite.ts';
import { readView } from '../../tokens/views/read-view.ts';
import type { Chore } from '../shared/chores.ts';
import { Jobs, type JobsDeps } from './jobs.ts';
import type { FindLine } from './wait.ts';

export interface BuildJobsDeps extends Omit<JobsDeps, 'scrub' | 'mask' | 'maskText' | 'stored' | 'openJobs'> {
  database: Database;
  scrubber: Scrubber;
  secondSearch: SecondSearch;
}

/** The background jobs, with the scrubbing of a call for their outputs. */
export function buildJobs({ scrubber, secondSearch, database, ...deps }: BuildJobsDeps): Jobs {
  return new Jobs({
    ...deps,
    openJobs: createOpenJobs({ database }),
    async scrub(session, release, { startedBy, opened }, gap) {
      const hints = { tool: startedBy, opened, ...(gap === null ? {} : { ownLines: new Map([[0, gap]]) }) };
      const { texts, rules, ownLines } = await scrubReleases(session, [release], hints, { scrubber, secondSearch });
      return { text: texts[0] ?? '', rules, gap: gap === null ? null : { ...gap, ...ownLines.get(0) } };
    },
    async mask(session, stream) {
      const { masked } = await maskStreams(session, [stream], [], scrubber);
      return masked[0] ?? { ...stream, text: '' };
    },
    maskText: (text) => scrubber.maskText(text),
    stored: (item) => secondSearch.stored(item),
  });
}

/** Finds a line as the view `grep` does: with the linear engine, and in a thread if the text is long. */
export function lineFinder(views: ViewMaker): FindLine {
  return async (text, pattern, limits) => {
    const view = readView({ grep: pattern });
    if (text === '') return null;
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
