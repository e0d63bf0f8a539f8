// Original file: proto/contextd/v1/management.proto


export interface RulesReview {
  /**
   * The file.
   */
  'path'?: (string);
  /**
   * Empty: there is no such file.
   */
  'sha256'?: (string);
  'approved'?: (boolean);
  /**
   * Rules it adds, approved or not.
   */
  'rules'?: (number);
  /**
   * What only an approval lets it do, a sentence each.
   */
  'allowances'?: (string)[];
  /**
   * Why it cannot be used at all; empty when it can.
   */
  'fault'?: (string);
}

export interface RulesReview__Output {
  /**
   * The file.
   */
  'path': (string);
  /**
   * Empty: there is no such file.
   */
  'sha256': (string);
  'approved': (boolean);
  /**
   * Rules it adds, approved or not.
   */
  'rules': (number);
  /**
   * What only an approval lets it do, a sentence each.
   */
  'allowances': (string)[];
  /**
   * Why it cannot be used at all; empty when it can.
   */
  'fault': (string);
}
