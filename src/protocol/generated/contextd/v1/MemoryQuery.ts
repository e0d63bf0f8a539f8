// Original file: proto/contextd/v1/management.proto


export interface MemoryQuery {
  /**
   * Project root.
   */
  'root'?: (string);
  'query'?: (string);
  /**
   * 1 to 100; 0 means 10.
   */
  'limit'?: (number);
  /**
   * Only memories that have all of them.
   */
  'tags'?: (string)[];
  /**
   * success, failure or mixed; empty means all.
   */
  'outcome'?: (string);
  /**
   * project or global; empty means both.
   */
  'scope'?: (string);
  /**
   * Only memories that changed in the last days, this number of them; 0 means all.
   */
  'max_age_days'?: (number);
}

export interface MemoryQuery__Output {
  /**
   * Project root.
   */
  'root': (string);
  'query': (string);
  /**
   * 1 to 100; 0 means 10.
   */
  'limit': (number);
  /**
   * Only memories that have all of them.
   */
  'tags': (string)[];
  /**
   * success, failure or mixed; empty means all.
   */
  'outcome': (string);
  /**
   * project or global; empty means both.
   */
  'scope': (string);
  /**
   * Only memories that changed in the last days, this number of them; 0 means all.
   */
  'max_age_days': (number);
}
