// Original file: proto/contextd/v1/management.proto


export interface NetworkGroup {
  'name'?: (string);
  'summary'?: (string);
  'patterns'?: (string)[];
}

export interface NetworkGroup__Output {
  'name': (string);
  'summary': (string);
  'patterns': (string)[];
}
