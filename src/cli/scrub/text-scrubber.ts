import { systemClock } from '../../core/clock.ts';
import { silentLogger } from '../../core/log.ts';
import type { RuleSources } from '../../scrub/exact/rule-pack.ts';
import type { Finding } from '../../scrub/finding.ts';
import { createEngine, type ScrubEngine } from '../../scrub/hardened/engine.ts';
import { scanNamed } from '../../scrub/leaves.ts';
import type { Scanner } from '../../scrub/scan/scanner.ts';
import { createScrubber } from '../../scrub/session-scrubber.ts';

export interface ScrubbedText {
  text: string;
  /** With UTF-16 offsets in the original text. */
  findings: readonly Finding[];
}

/** Characters at both ends of a text that are searched but not returned. */
export interface Margins {
  before: number;
  after: number;
}

/** Scrubs text after text. Throws SCRUB_FAILED if a text cannot be searched. */
export interface TextScrubber {
  scrub(text: string, margins?: Margins): Promise<ScrubbedText>;
}

export interface TextScrubberOptions extends RuleSources {
  /** True: a secret of one text is known in all later texts. False: each text is a separate session. */
  shareVault: boolean;
}

const SESSION = { project: '', session: 'ctxd scrub', branch: null };

/**
 * The daemon's scrubber in this process, with the same rules, vault and guard. Rules are compiled at their first use.
 */
export function createTextScrubber({ pack, official, shareVault }: TextScrubberOptions): TextScrubber {
  const engine = createEngine(pack, { compile: 'when used', official });
  let last = 0;
  const scrubber = createScrubber({
    scanner: scanHere(engine),
    engine,
    numbers: { next: () => ++last, last: () => last },
    logger: silentLogger,
    clock: systemClock,
  });
  return {
    async scrub(text, margins) {
      if (!shareVault) {
        scrubber.forget(SESSION);
        last = 0;
      }
      const hints = margins === undefined ? {} : { margins: new Map([[0, margins]]) };
      const { value, spans } = await scrubber.scrub(SESSION, [text], hints);
      return { text: value[0] ?? '', findings: spans[0] ?? [] };
    },
  };
}

/** Searches in this thread and without a deadline, because a pipeline has nothing else to do. */
function scanHere(engine: ScrubEngine): Pick<Scanner, 'start' | 'stop' | 'scan'> {
  return {
    async start() {},
    async stop() {},
    scan: async (texts) => texts.map((text) => scanNamed(engine, text)),
  };
}
