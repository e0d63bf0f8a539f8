import type { Logger } from '../core/log.ts';
import { ProgressFeed } from '../runner/progress/progress-feed.ts';
import type { Release } from '../runner/progress/progress-window.ts';
import type { Scrubber } from '../scrub/scrubber.ts';
import type { VerifiedCall } from './call.ts';
import { type OpenedSecret, tokensToMask } from './open-secrets.ts';
import type { SecondSearch } from './second-search.ts';

export interface ProgressDeps {
  scrubber: Scrubber;
  secondSearch: SecondSearch;
  logger: Logger;
}

/** For a caller who waits: what the call's commands print, searched as the answer will be. Null when nobody does. */
export function progressOf(
  call: VerifiedCall,
  opened: readonly OpenedSecret[],
  { scrubber, secondSearch, logger }: ProgressDeps,
): ProgressFeed | null {
  const { request, sessionKey } = call;
  const show = request.onProgress;
  if (show === undefined) return null;
  return new ProgressFeed({
    scrub: async (releases) => {
      const texts = releases.map(({ before, text, after }) => `${before}${text}${after}`);
      const hints = { margins: marginsOf(releases), tool: request.tool, opened: tokensToMask(opened) };
      const { value } = await scrubber.scrub(sessionKey, texts, hints);
      const missed = await secondSearch.missedIn(value);
      return missed.length === 0 ? value : (await scrubber.scrubAgain(sessionKey, value, missed)).value;
    },
    show: (text) => show(text),
    later: (ms, action) => {
      const timer = setTimeout(action, ms);
      return () => clearTimeout(timer);
    },
    onFault: (thrown) => logger.warn('progress.stopped', { request_id: call.requestId, cause: String(thrown) }),
  });
}

function marginsOf(releases: readonly Release[]): Map<number, { before: number; after: number }> {
  return new Map(releases.map(({ before, after }, i) => [i, { before: before.length, after: after.length }]));
}
