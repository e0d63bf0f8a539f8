// Original file: proto/contextd/v1/management.proto


export interface MemorySync {
  /**
   * off (no server is configured), idle (everything was sent and read), behind (there is more to send) or failing.
   */
  'state'?: (string);
  'url'?: (string);
  'collection'?: (string);
  /**
   * The id by which others know the project; empty if it is not shared.
   */
  'project_id'?: (string);
  /**
   * Changes that the server does not have yet.
   */
  'pending'?: (number);
  /**
   * Memories of others that are here.
   */
  'foreign'?: (number);
  /**
   * Points of others that could not be read or masked since the daemon started.
   */
  'refused'?: (number);
  /**
   * When the last round succeeded, in milliseconds since the epoch; 0: none did since the daemon started.
   */
  'synced_ms'?: (number | string);
  /**
   * Why the last call failed; empty if it did not.
   */
  'fault'?: (string);
  /**
   * Milliseconds until the next attempt.
   */
  'retry_ms'?: (number);
}

export interface MemorySync__Output {
  /**
   * off (no server is configured), idle (everything was sent and read), behind (there is more to send) or failing.
   */
  'state': (string);
  'url': (string);
  'collection': (string);
  /**
   * The id by which others know the project; empty if it is not shared.
   */
  'project_id': (string);
  /**
   * Changes that the server does not have yet.
   */
  'pending': (number);
  /**
   * Memories of others that are here.
   */
  'foreign': (number);
  /**
   * Points of others that could not be read or masked since the daemon started.
   */
  'refused': (number);
  /**
   * When the last round succeeded, in milliseconds since the epoch; 0: none did since the daemon started.
   */
  'synced_ms': (number);
  /**
   * Why the last call failed; empty if it did not.
   */
  'fault': (string);
  /**
   * Milliseconds until the next attempt.
   */
  'retry_ms': (number);
}
