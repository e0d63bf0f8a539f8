// Original file: proto/contextd/v1/management.proto

import type { Long } from '@grpc/proto-loader';

export interface NetworkLogEntry {
  'id'?: (number | string | Long);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms'?: (number | string | Long);
  'project'?: (string);
  /**
   * Empty for the commands of the project.
   */
  'tool'?: (string);
  /**
   * Empty if they are not known.
   */
  'session'?: (string);
  'request_id'?: (string);
  'host'?: (string);
  /**
   * 0 for a name look-up.
   */
  'port'?: (number);
  /**
   * "connect", "http", "socks", "direct" or "dns".
   */
  'via'?: (string);
  /**
   * "allowed", "denied", or "cut" if the proxy closed an allowed connection.
   */
  'verdict'?: (string);
  'rule'?: (string);
  'why'?: (string);
  /**
   * Bytes from and to the sandbox.
   */
  'up'?: (number | string | Long);
  'down'?: (number | string | Long);
  /**
   * Absent while it is open.
   */
  'duration_ms'?: (number | string | Long);
  /**
   * How many equal connections the entry stands for.
   */
  'repeats'?: (number);
  '_duration_ms'?: "duration_ms";
}

export interface NetworkLogEntry__Output {
  'id': (number);
  /**
   * Milliseconds since the epoch.
   */
  'at_ms': (number);
  'project': (string);
  /**
   * Empty for the commands of the project.
   */
  'tool': (string);
  /**
   * Empty if they are not known.
   */
  'session': (string);
  'request_id': (string);
  'host': (string);
  /**
   * 0 for a name look-up.
   */
  'port': (number);
  /**
   * "connect", "http", "socks", "direct" or "dns".
   */
  'via': (string);
  /**
   * "allowed", "denied", or "cut" if the proxy closed an allowed connection.
   */
  'verdict': (string);
  'rule': (string);
  'why': (string);
  /**
   * Bytes from and to the sandbox.
   */
  'up': (number);
  'down': (number);
  /**
   * Absent while it is open.
   */
  'duration_ms'?: (number);
  /**
   * How many equal connections the entry stands for.
   */
  'repeats': (number);
  '_duration_ms'?: "duration_ms";
}
