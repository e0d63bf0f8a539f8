// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Everything about a credential but its value.
 */
export interface NetworkCredentialInfo {
  'host'?: (string);
  'port'?: (number);
  /**
   * In lower case, such as "authorization".
   */
  'header'?: (string);
  /**
   * "bearer", "token", "basic", or "plain" for the value alone.
   */
  'scheme'?: (string);
  /**
   * For "basic"; empty means that the secret is "user:password", or a token.
   */
  'user'?: (string);
  /**
   * "gh", "env:NAME" or "file:PATH".
   */
  'source'?: (string);
  'methods'?: (string)[];
  /**
   * Globs over the path; empty means every path.
   */
  'paths'?: (string)[];
  /**
   * Variables that hold a placeholder in commands.
   */
  'placeholders'?: (string)[];
  /**
   * Milliseconds after which the value is read again; 0 means never.
   */
  'refresh_ms'?: (number | string | Long);
  /**
   * "project" or "machine".
   */
  'from'?: (string);
  /**
   * When the value was read, milliseconds since the epoch.
   */
  'read_ms'?: (number | string | Long);
  'given_by'?: (string);
  /**
   * "ok", "expired", or "rejected" if the host did not accept it.
   */
  'state'?: (string);
}

/**
 * Everything about a credential but its value.
 */
export interface NetworkCredentialInfo__Output {
  'host': (string);
  'port': (number);
  /**
   * In lower case, such as "authorization".
   */
  'header': (string);
  /**
   * "bearer", "token", "basic", or "plain" for the value alone.
   */
  'scheme': (string);
  /**
   * For "basic"; empty means that the secret is "user:password", or a token.
   */
  'user': (string);
  /**
   * "gh", "env:NAME" or "file:PATH".
   */
  'source': (string);
  'methods': (string)[];
  /**
   * Globs over the path; empty means every path.
   */
  'paths': (string)[];
  /**
   * Variables that hold a placeholder in commands.
   */
  'placeholders': (string)[];
  /**
   * Milliseconds after which the value is read again; 0 means never.
   */
  'refresh_ms': (number);
  /**
   * "project" or "machine".
   */
  'from': (string);
  /**
   * When the value was read, milliseconds since the epoch.
   */
  'read_ms': (number);
  'given_by': (string);
  /**
   * "ok", "expired", or "rejected" if the host did not accept it.
   */
  'state': (string);
}
