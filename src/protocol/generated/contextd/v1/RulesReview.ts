// Original file: proto/contextd/v1/management.proto


export interface RulesReview {
  /**
   * The path of the file.
   */
  'path'?: (string);
  /**
   * Empty if the file does not exist.
   */
  'sha256'?: (string);
  'approved'?: (boolean);
  /**
   * The number of rules it adds, approved or not.
   */
  'rules'?: (number);
  /**
   * What needs an approval, one sentence each.
   */
  'allowances'?: (string)[];
  /**
   * Why the file cannot be used, or empty.
   */
  'fault'?: (string);
}

export interface RulesReview__Output {
  /**
   * The path of the file.
   */
  'path': (string);
  /**
   * Empty if the file does not exist.
   */
  'sha256': (string);
  'approved': (boolean);
  /**
   * The number of rules it adds, approved or not.
   */
  'rules': (number);
  /**
   * What needs an approval, one sentence each.
   */
  'allowances': (string)[];
  /**
   * Why the file cannot be used, or empty.
   */
  'fault': (string);
}
