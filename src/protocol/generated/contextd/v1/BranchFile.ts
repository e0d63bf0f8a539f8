// Original file: proto/contextd/v1/management.proto


export interface BranchFile {
  'path'?: (string);
  'why'?: (string);
}

export interface BranchFile__Output {
  'path': (string);
  'why': (string);
}
