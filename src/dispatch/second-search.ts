import type { AuditItem } from '../scrub/gitleaks/auditor.ts';
import type { MissedSecret } from '../scrub/gitleaks/run.ts';

/** The real gitleaks beside our engine. */
export interface SecondSearch {
  /**
   * Secrets that are still in scrubbed texts; none unless `scrub.gitleaks` is `always`. SCRUB_FAILED when gitleaks
   * fails or is not there: then the texts must not leave.
   */
  missedIn(texts: readonly string[]): Promise<readonly MissedSecret[]>;
  /** An output was stored. Returns at once: the search happens later, if at all. */
  stored(item: AuditItem): void;
}
