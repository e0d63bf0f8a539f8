// Original file: proto/contextd/v1/management.proto


export interface PrivateHost {
  'host'?: (string);
  'addresses'?: (string)[];
}

export interface PrivateHost__Output {
  'host': (string);
  'addresses': (string)[];
}
