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
}
