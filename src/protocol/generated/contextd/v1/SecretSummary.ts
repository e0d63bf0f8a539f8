// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface SecretSummary {
  /**
   * "[SECRET_1]".
   */
  'token'?: (string);
  /**
   * The rule or seed that found it first.
   */
  'rule'?: (string);
  /**
   * "private key", "password", "key", "token" or "secret".
   */
  'kind'?: (string);
  /**
   * Empty if it was not found in a tool's answer.
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
   * The number of calls in which it replaced its token.
   */
  'opened'?: (number | string | Long);
  /**
   * Milliseconds since the epoch; 0 means never.
   */
  'last_opened_ms'?: (number | string | Long);
}

export interface SecretSummary__Output {
  /**
   * "[SECRET_1]".
   */
  'token': (string);
  /**
   * The rule or seed that found it first.
   */
  'rule': (string);
  /**
   * "private key", "password", "key", "token" or "secret".
   */
  'kind': (string);
  /**
   * Empty if it was not found in a tool's answer.
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
   * The number of calls in which it replaced its token.
   */
  'opened': (number);
  /**
   * Milliseconds since the epoch; 0 means never.
   */
  'last_opened_ms': (number);
}
