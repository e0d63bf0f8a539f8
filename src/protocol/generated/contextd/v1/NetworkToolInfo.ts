// Original file: proto/contextd/v1/management.proto


export interface NetworkToolInfo {
  'tool'?: (string);
  'asks_for'?: (string)[];
  'may_reach'?: (string)[];
}

export interface NetworkToolInfo__Output {
  'tool': (string);
  'asks_for': (string)[];
  'may_reach': (string)[];
}
