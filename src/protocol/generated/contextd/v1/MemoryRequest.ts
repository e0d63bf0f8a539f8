// Original file: proto/contextd/v1/management.proto


export interface MemoryRequest {
  /**
   * Project root.
   */
  'root'?: (string);
  'ids'?: (string)[];
}

export interface MemoryRequest__Output {
  /**
   * Project root.
   */
  'root': (string);
  'ids': (string)[];
}
