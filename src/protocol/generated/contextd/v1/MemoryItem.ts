// Original file: proto/contextd/v1/management.proto


export interface MemoryItem {
  'id'?: (string);
  'title'?: (string);
  /**
   * When to use it and when not.
   */
  'description'?: (string);
  /**
   * An excerpt, unless whole contents were asked for.
   */
  'content'?: (string);
  'tags'?: (string)[];
  /**
   * success, failure or mixed.
   */
  'outcome'?: (string);
  /**
   * The task that taught it.
   */
  'task'?: (string);
  'context'?: (string);
  /**
   * project or global.
   */
  'scope'?: (string);
  /**
   * Root of the project it was stored in.
   */
  'project'?: (string);
  /**
   * person, model, tool or import.
   */
  'origin'?: (string);
  /**
   * The installed tool that stored it; empty for all others.
   */
  'owner'?: (string);
  /**
   * Where it was imported from; empty if it was made here.
   */
  'source'?: (string);
  /**
   * Ids of the calls that taught it.
   */
  'provenance'?: (string)[];
  /**
   * Ids of memories that say the opposite.
   */
  'contradicts'?: (string)[];
  /**
   * From 0 to 1.
   */
  'confidence'?: (number | string);
  /**
   * How often its content was read.
   */
  'uses'?: (number);
  /**
   * True: it kept failing, and no search finds it.
   */
  'quarantined'?: (boolean);
  /**
   * Milliseconds since the epoch; used_ms is 0 if its content was never read.
   */
  'created_ms'?: (number | string);
  'updated_ms'?: (number | string);
  'used_ms'?: (number | string);
}

export interface MemoryItem__Output {
  'id': (string);
  'title': (string);
  /**
   * When to use it and when not.
   */
  'description': (string);
  /**
   * An excerpt, unless whole contents were asked for.
   */
  'content': (string);
  'tags': (string)[];
  /**
   * success, failure or mixed.
   */
  'outcome': (string);
  /**
   * The task that taught it.
   */
  'task': (string);
  'context': (string);
  /**
   * project or global.
   */
  'scope': (string);
  /**
   * Root of the project it was stored in.
   */
  'project': (string);
  /**
   * person, model, tool or import.
   */
  'origin': (string);
  /**
   * The installed tool that stored it; empty for all others.
   */
  'owner': (string);
  /**
   * Where it was imported from; empty if it was made here.
   */
  'source': (string);
  /**
   * Ids of the calls that taught it.
   */
  'provenance': (string)[];
  /**
   * Ids of memories that say the opposite.
   */
  'contradicts': (string)[];
  /**
   * From 0 to 1.
   */
  'confidence': (number);
  /**
   * How often its content was read.
   */
  'uses': (number);
  /**
   * True: it kept failing, and no search finds it.
   */
  'quarantined': (boolean);
  /**
   * Milliseconds since the epoch; used_ms is 0 if its content was never read.
   */
  'created_ms': (number);
  'updated_ms': (number);
  'used_ms': (number);
}
