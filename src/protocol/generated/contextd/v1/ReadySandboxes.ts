// Original file: proto/contextd/v1/management.proto


export interface ReadySandboxes {
  'project'?: (string);
  'count'?: (number);
}

export interface ReadySandboxes__Output {
  'project': (string);
  'count': (number);
}
