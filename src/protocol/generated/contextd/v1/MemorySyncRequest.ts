// Original file: proto/contextd/v1/management.proto


export interface MemorySyncRequest {
  /**
   * Project root; empty: of no project.
   */
  'root'?: (string);
  /**
   * status, now (send and read at once) or rebuild (send and read everything again).
   */
  'action'?: (string);
}

export interface MemorySyncRequest__Output {
  /**
   * Project root; empty: of no project.
   */
  'root': (string);
  /**
   * status, now (send and read at once) or rebuild (send and read everything again).
   */
  'action': (string);
}
