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
   * Secrets that only the daemon's search found, not the one in the tool's process.
   */
  'missed_by_first_pass'?: (number | string | Long);
  /**
   * Secrets that gitleaks found later in stored outputs.
   */
  'missed_by_engine'?: (number | string | Long);
  /**
   * Milliseconds of all calls and of their searches for secrets.
   */
  'duration_ms'?: (number | string);
  'scrub_ms'?: (number | string);
  /**
   * Calls that ran nothing but fetched more of an earlier output.
   */
  'follow_ups'?: (number | string | Long);
  /**
   * Calls whose tokens are known. The token fields sum only these.
   */
  'counted_calls'?: (number | string | Long);
  /**
   * How many of those have an estimated tokens_run.
   */
  'estimated_calls'?: (number | string | Long);
  /**
   * Tokens that the whole outputs would have cost.
   */
  'tokens_run'?: (number | string);
  /**
   * Tokens of all answers, including follow-ups.
   */
  'tokens_returned'?: (number | string);
  /**
   * tokens_run - tokens_returned, so the cost of follow-ups is subtracted. Negative if more was returned than run.
   */
  'tokens_saved'?: (number | string);
  /**
   * Stored outputs, and answers that did not contain the whole output.
   */
  'artifacts'?: (number | string | Long);
  'truncated'?: (number | string | Long);
  /**
   * Calls whose time in the tool is known, and the milliseconds that contextd added to them.
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
   * Secrets that only the daemon's search found, not the one in the tool's process.
   */
  'missed_by_first_pass': (number);
  /**
   * Secrets that gitleaks found later in stored outputs.
   */
  'missed_by_engine': (number);
  /**
   * Milliseconds of all calls and of their searches for secrets.
   */
  'duration_ms': (number);
  'scrub_ms': (number);
  /**
   * Calls that ran nothing but fetched more of an earlier output.
   */
  'follow_ups': (number);
  /**
   * Calls whose tokens are known. The token fields sum only these.
   */
  'counted_calls': (number);
  /**
   * How many of those have an estimated tokens_run.
   */
  'estimated_calls': (number);
  /**
   * Tokens that the whole outputs would have cost.
   */
  'tokens_run': (number);
  /**
   * Tokens of all answers, including follow-ups.
   */
  'tokens_returned': (number);
  /**
   * tokens_run - tokens_returned, so the cost of follow-ups is subtracted. Negative if more was returned than run.
   */
  'tokens_saved': (number);
  /**
   * Stored outputs, and answers that did not contain the whole output.
   */
  'artifacts': (number);
  'truncated': (number);
  /**
   * Calls whose time in the tool is known, and the milliseconds that contextd added to them.
   */
  'timed_calls': (number);
  'added_ms': (number);
}
