// Original file: proto/contextd/v1/management.proto


/**
 * A job or a call that runs.
 */
export interface RunningItem {
  'id'?: (string);
  /**
   * "job" or "call".
   */
  'kind'?: (string);
  'project'?: (string);
  'session'?: (string);
  'tool'?: (string);
  /**
   * The number of a job in its session; 0 for a call.
   */
  'job'?: (number);
  /**
   * Milliseconds since the epoch.
   */
  'started_ms'?: (number | string);
  /**
   * What it was asked to do, scrubbed and shortened.
   */
  'command'?: (string);
  /**
   * Absent if they are not known.
   */
  'memory_bytes'?: (number | string);
  'cpu_ms'?: (number | string);
  '_memory_bytes'?: "memory_bytes";
  '_cpu_ms'?: "cpu_ms";
}

/**
 * A job or a call that runs.
 */
export interface RunningItem__Output {
  'id': (string);
  /**
   * "job" or "call".
   */
  'kind': (string);
  'project': (string);
  'session': (string);
  'tool': (string);
  /**
   * The number of a job in its session; 0 for a call.
   */
  'job': (number);
  /**
   * Milliseconds since the epoch.
   */
  'started_ms': (number);
  /**
   * What it was asked to do, scrubbed and shortened.
   */
  'command': (string);
  /**
   * Absent if they are not known.
   */
  'memory_bytes'?: (number);
  'cpu_ms'?: (number);
  '_memory_bytes'?: "memory_bytes";
  '_cpu_ms'?: "cpu_ms";
}
