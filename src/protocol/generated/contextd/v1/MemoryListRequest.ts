// Original file: proto/contextd/v1/management.proto


export interface MemoryListRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  /**
   * Only memories behind this one; empty means from the first.
   */
  'after_id'?: (string);
  /**
   * 1 to 500; 0 means 100.
   */
  'limit'?: (number);
  /**
   * True: with whole contents.
   */
  'with_content'?: (boolean);
}

export interface MemoryListRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  /**
   * Only memories behind this one; empty means from the first.
   */
  'after_id': (string);
  /**
   * 1 to 500; 0 means 100.
   */
  'limit': (number);
  /**
   * True: with whole contents.
   */
  'with_content': (boolean);
}
