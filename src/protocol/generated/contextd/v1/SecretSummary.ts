// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface SecretSummary {
  /**
   * "[SECRET_1]".
   */
  'token'?: (string);
  /**
   * The rule or seed that knew it first.
   */
  'rule'?: (string);
  /**
   * "private key", "password", "key", "token" or "secret".
   */
  'kind'?: (string);
  /**
   * Empty: no tool's answer.
   */
  'tool'?: (string);
  /**
   * Milliseconds since the epoch.
   */
  'first_seen_ms'?: (number | string | Long);
  /**
   * How often it was masked.
   */
  'uses'?: (number | string | Long);
  /**
   * In how many calls it was put in the place of its token.
   */
  'opened'?: (number | string | Long);
  /**
   * Milliseconds since the epoch; 0: never.
   */
  'last_opened_ms'?: (number | string | Long);
}

export interface SecretSummary__Output {
  /**
   * "[SECRET_1]".
   */
  'token': (string);
  /**
   * The rule or seed that knew it first.
   */
  'rule': (string);
  /**
   * "private key", "password", "key", "token" or "secret".
   */
  'kind': (string);
  /**
   * Empty: no tool's answer.
   */
  'tool': (string);
  /**
   * Milliseconds since the epoch.
   */
  'first_seen_ms': (number);
  /**
   * How often it was masked.
   */
  'uses': (number);
  /**
   * In how many calls it was put in the place of its token.
   */
  'opened': (number);
  /**
   * Milliseconds since the epoch; 0: never.
   */
  'last_opened_ms': (number);
}
