// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

/**
 * The calls of one tool in one session on one day.
 */
export interface StatsRow {
  /**
   * "2026-01-31", UTC.
   */
  'day'?: (string);
  'project'?: (string);
  'session'?: (string);
  'tool'?: (string);
  'calls'?: (number | string | Long);
  'failed'?: (number | string | Long);
  /**
   * Secrets masked in answers.
   */
  'secrets'?: (number | string | Long);
  /**
   * What only the daemon's search found, not the one in the tool's process.
   */
  'missed_by_first_pass'?: (number | string | Long);
  /**
   * What gitleaks found in stored outputs later.
   */
  'missed_by_engine'?: (number | string | Long);
  /**
   * Milliseconds of all calls, and of their search for secrets.
   */
  'duration_ms'?: (number | string);
  'scrub_ms'?: (number | string);
  /**
   * Calls that ran nothing: they fetched more of an earlier output.
   */
  'follow_ups'?: (number | string | Long);
  /**
   * Calls whose tokens are known. The token fields sum these and no others.
   */
  'counted_calls'?: (number | string | Long);
  /**
   * Calls of those whose tokens_run is an estimate.
   */
  'estimated_calls'?: (number | string | Long);
  /**
   * Tokens that the whole outputs would have cost.
   */
  'tokens_run'?: (number | string);
  /**
   * Tokens of all answers, follow-ups too.
   */
  'tokens_returned'?: (number | string);
  /**
   * tokens_run - tokens_returned: what follow-ups cost is taken off. Negative when more came back than ran.
   */
  'tokens_saved'?: (number | string);
  /**
   * Outputs that were stored, and answers that did not hold the whole output.
   */
  'artifacts'?: (number | string | Long);
  'truncated'?: (number | string | Long);
  /**
   * Calls whose time in the tool is known, and milliseconds that contextd added to those.
   */
  'timed_calls'?: (number | string | Long);
  'added_ms'?: (number | string);
}

/**
 * The calls of one tool in one session on one day.
 */
export interface StatsRow__Output {
  /**
   * "2026-01-31", UTC.
   */
  'day': (string);
  'project': (string);
  'session': (string);
  'tool': (string);
  'calls': (number);
  'failed': (number);
  /**
   * Secrets masked in answers.
   */
  'secrets': (number);
  /**
   * What only the daemon's search found, not the one in the tool's process.
   */
  'missed_by_first_pass': (number);
  /**
   * What gitleaks found in stored outputs later.
   */
  'missed_by_engine': (number);
  /**
   * Milliseconds of all calls, and of their search for secrets.
   */
  'duration_ms': (number);
  'scrub_ms': (number);
  /**
   * Calls that ran nothing: they fetched more of an earlier output.
   */
  'follow_ups': (number);
  /**
   * Calls whose tokens are known. The token fields sum these and no others.
   */
  'counted_calls': (number);
  /**
   * Calls of those whose tokens_run is an estimate.
   */
  'estimated_calls': (number);
  /**
   * Tokens that the whole outputs would have cost.
   */
  'tokens_run': (number);
  /**
   * Tokens of all answers, follow-ups too.
   */
  'tokens_returned': (number);
  /**
   * tokens_run - tokens_returned: what follow-ups cost is taken off. Negative when more came back than ran.
   */
  'tokens_saved': (number);
  /**
   * Outputs that were stored, and answers that did not hold the whole output.
   */
  'artifacts': (number);
  'truncated': (number);
  /**
   * Calls whose time in the tool is known, and milliseconds that contextd added to those.
   */
  'timed_calls': (number);
  'added_ms': (number);
}
