// Original file: proto/contextd/v1/management.proto


export interface AddedMemory {
  /**
   * stored, merged (another memory says nearly the same), unchanged (the same words are there), or refused.
   */
  'state'?: (string);
  /**
   * The memory that holds it; empty for an import and if it was refused.
   */
  'id'?: (string);
  'contradicts'?: (string)[];
  /**
   * Why it was refused.
   */
  'fault'?: (string);
}

export interface AddedMemory__Output {
  /**
   * stored, merged (another memory says nearly the same), unchanged (the same words are there), or refused.
   */
  'state': (string);
  /**
   * The memory that holds it; empty for an import and if it was refused.
   */
  'id': (string);
  'contradicts': (string)[];
  /**
   * Why it was refused.
   */
  'fault': (string);
}
